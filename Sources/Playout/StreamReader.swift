// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Writes the stream from its cursor on: decodes packets that arrived, and conceals gaps.
struct StreamReader: ~Copyable {
    /// The stream's frame to be written next.
    private(set) var cursor = 0
    /// True once a packet was played since the start.
    private(set) var hasPlayed = false
    /// The frames concealed since the last received packet was played.
    private(set) var concealedRunFrames = 0
    var decoder: PayloadDecoder
    private var concealer: Concealer
    private var isGlitching = false  // the present gap was counted
    private var hasSeam = false  // the decoder has had late packets, so that its next sound does not join the last one

    init(_ configuration: PlayoutConfiguration, decoder: consuming PayloadDecoder) {
        self.decoder = decoder
        concealer = Concealer(channelCount: configuration.channelCount, sampleRate: configuration.streamRate)
    }

    /// Sets the cursor for the first packet of a stream.
    @_noLocks
    mutating func start(at cursor: Int) {
        self.cursor = cursor
        concealedRunFrames = 0
    }

    /// Forgets the stream; its last sound is crossfaded with the next stream.
    @_noLocks
    mutating func reset() {
        concealer.begin()
        decoder.reset()
        hasPlayed = false
    }

    /// Returns true while the last written sound is concealment, or crossfaded with it.
    var isConcealing: Bool {
        @_noLocks get { concealer.isActive && !concealer.isBlendingSmoothly || decoder.stage.isConcealment }
    }

    /// Returns the number of received frames from the cursor on, in the packet being played or else in the next one; 0 before a
    /// gap.
    @_noLocks
    func readyFrames(_ intake: borrowing PacketIntake) -> Int {
        if decoder.stage.frameCount > 0 {
            guard !decoder.stage.isConcealment, decoder.stage.position <= cursor else { return 0 }
            return decoder.stage.frameCount &- (cursor &- decoder.stage.position)
        }
        guard let header = intake.next, header.position <= cursor else { return 0 }
        return header.position &+ header.frameCount &- cursor
    }

    /// Writes the next frames of the stream.
    @_noLocks
    mutating func read(
        _ output: Channels, offset: Int, frameCount: Int, _ intake: inout PacketIntake,
        _ statistics: inout PlayoutStatistics
    ) {
        var writtenFrames = 0
        while writtenFrames < frameCount {
            let (offset, remaining) = (offset &+ writtenFrames, frameCount &- writtenFrames)
            if decoder.stage.frameCount > 0 {
                if dropOutdatedConcealment(intake) { continue }
                let count = min(remaining, concealedFramesLeft(intake))
                writtenFrames &+= playStage(output, offset: offset, frameCount: count, &statistics)
            } else if let header = intake.next {
                if header.position &+ header.frameCount <= cursor {
                    statistics.latePackets &+= 1
                    // A decoder must get the first packet of its form, also if it is late, and it needs the last ones.
                    let changesForm = decoder.changesForm(with: header, isConcealing: false)
                    if changesForm || cursor &- header.position < Self.decodedLateFrames {
                        if hasPlayed, changesForm { concealer.beginSmoothly() }
                        hasSeam = true
                        decoder.decode(header, intake.payload(of: header))
                        decoder.stage.removeAll()
                    }
                    intake.advance()
                } else if header.position > cursor {
                    if recover(before: header, intake, &statistics) { continue }
                    let gap = header.position &- cursor
                    writtenFrames &+= conceal(
                        output, offset: offset, frameCount: min(gap, remaining), gap: gap, &statistics)
                } else {
                    // Two codecs have different errors, and longer packets more delay, so the seam is crossfaded.
                    if hasPlayed, decoder.changesForm(with: header, isConcealing: concealer.isActive) {
                        concealer.beginSmoothly()
                    }
                    closeSeam()
                    decoder.decode(header, intake.payload(of: header))
                    hasPlayed = hasPlayed || decoder.stage.frameCount > 0
                    intake.advance()
                }
            } else if let missing = intake.skipMissing() {
                statistics.missingPackets &+= missing
            } else {
                writtenFrames &+= conceal(output, offset: offset, frameCount: remaining, gap: .max, &statistics)
            }
        }
    }

    /// The frames by which a packet may be late and is still decoded for the state of the decoder, 50 ms: after a gap in the pulls
    /// the decoder could not follow the stream, and a packet alone may be far too loud.
    private static var decodedLateFrames: Int { @_noLocks get { 2_400 } }

    /// Moves the cursor forwards (skips frames) or back (conceals frames), with a crossfade.
    @_noLocks
    mutating func skip(_ frames: Int, isSmooth: Bool = false, _ statistics: inout PlayoutStatistics) {
        if isSmooth { concealer.beginSmoothly() } else { concealer.begin() }
        cursor = cursor &+ frames
        statistics.skips &+= 1
        noteGlitch(&statistics)
        if frames > 0 { statistics.droppedFrames &+= frames } else { statistics.insertedFrames &-= frames }
    }

    /// Moves the cursor before the first packet is played.
    @_noLocks
    mutating func moveUnheard(_ frames: Int) { cursor = cursor &+ frames }

    // MARK: Sound

    /// Returns the frames before the next packet while the codec's concealment plays; otherwise, or without a packet, `.max`.
    @_noLocks
    private func concealedFramesLeft(_ intake: borrowing PacketIntake) -> Int {
        guard decoder.stage.isConcealment, let header = intake.next, header.position > cursor else { return .max }
        return header.position &- cursor
    }

    /// Drops the codec's concealment of a packet if that packet has arrived since.
    /// - Returns: true if it was dropped.
    @_noLocks
    private mutating func dropOutdatedConcealment(_ intake: borrowing PacketIntake) -> Bool {
        guard decoder.stage.isConcealment, let header = intake.next, header.position <= cursor,
            header.position &+ header.frameCount > cursor
        else { return false }
        // The packet's sound does not join the middle of the concealment, least of all if a gap precedes it.
        concealer.begin()
        decoder.stage.removeAll()
        return true
    }

    /// Plays the decoded packet from the cursor on, or conceals up to its beginning.
    /// - Returns: the frames written.
    @_noLocks
    private mutating func playStage(
        _ output: Channels, offset: Int, frameCount: Int, _ statistics: inout PlayoutStatistics
    ) -> Int {
        let ahead = cursor &- decoder.stage.position
        if ahead < 0 {
            return conceal(output, offset: offset, frameCount: min(frameCount, 0 &- ahead), gap: 0, &statistics)
        }
        if ahead > 0 {
            decoder.stage.removeFirst(min(ahead, decoder.stage.frameCount))
            return 0
        }
        let count = min(decoder.stage.frameCount, frameCount)
        for c in 0..<output.count {
            copySamples(output[c] + offset, decoder.stage.channels[c] + decoder.stage.offset, count)
        }
        concealer.pass(output, offset: offset, frameCount: count)
        if decoder.stage.isConcealment {
            statistics.concealedFrames &+= count
            concealedRunFrames &+= count
        } else {
            isGlitching = false
            concealedRunFrames = 0
        }
        decoder.stage.removeFirst(count)
        cursor &+= count
        return count
    }

    /// Conceals a gap of `gap` frames, `.max` if its end is unknown: by the codec first, then by prediction, which fades out.
    /// Before the first packet is played, writes silence.
    /// - Returns: the frames written; 0 if the codec's concealment was staged.
    @_noLocks
    private mutating func conceal(
        _ output: Channels, offset: Int, frameCount: Int, gap: Int, _ statistics: inout PlayoutStatistics
    ) -> Int {
        guard hasPlayed else {
            for c in 0..<output.count { clearSamples(output[c] + offset, frameCount) }
            cursor &+= frameCount
            return frameCount
        }
        noteGlitch(&statistics)
        if !concealer.isActive {
            let frames = decoder.conceal(position: cursor, gap: gap)
            let (staged, start) = (decoder.stage.channels, decoder.stage.offset)
            if frames > 0, concealer.isRougher(staged, offset: start, frameCount: frames) {
                decoder.rejectConcealment()
            } else if frames > 0 {
                if concealedRunFrames == 0 { concealer.begin(before: staged, offset: start) }
                closeSeam()
                return 0
            }
        }
        concealer.conceal(output, offset: offset, frameCount: frameCount)
        statistics.concealedFrames &+= frameCount
        concealedRunFrames &+= frameCount
        cursor &+= frameCount
        return frameCount
    }

    /// Stages the next packet's copy of the missing packet before it.
    /// - Returns: false if there is no such copy.
    @_noLocks
    private mutating func recover(
        before header: PacketHeader, _ intake: borrowing PacketIntake, _ statistics: inout PlayoutStatistics
    ) -> Bool {
        guard decoder.recover(position: cursor, before: header, intake.payload(of: header)) else { return false }
        hasPlayed = true
        statistics.recoveredPackets &+= 1
        statistics.codecRecoveredPackets &+= 1
        return true
    }

    /// Crossfades the decoder's next sound with the last one if they do not join.
    @_noLocks
    private mutating func closeSeam() {
        if hasSeam, hasPlayed { concealer.begin() }
        hasSeam = false
    }

    /// Counts an audible gap once, however long it lasts.
    @_noLocks
    private mutating func noteGlitch(_ statistics: inout PlayoutStatistics) {
        if !isGlitching { statistics.glitches &+= 1 }
        isGlitching = true
    }
}
