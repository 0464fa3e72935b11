import AudioBase
import AudioCodecs

extension PlayoutState {
    /// Writes the next frames of the stream, decoded where they have come and made up where they have not.
    @_noLocks
    mutating func fill(_ output: Channels, offset: Int, frameCount: Int) {
        var done = 0
        while done < frameCount {
            if staged > 0 {
                if hasComeAfterAll() { continue }
                done &+= playStage(output, offset: offset &+ done, frameCount: frameCount &- done)
            } else if let header = buffer.header(of: nextSequence) {
                if header.position &+ header.frameCount <= cursor {
                    statistics.latePackets &+= 1
                    nextSequence &+= 1
                } else if header.position > cursor {
                    let gap = min(header.position &- cursor, frameCount &- done)
                    if recover(before: header) { continue }
                    done &+= bridge(output, offset: offset &+ done, frameCount: gap, gap: header.position &- cursor)
                } else {
                    decode(header)
                    nextSequence &+= 1
                }
            } else if let present = buffer.first(from: nextSequence) {
                statistics.missingPackets &+= present &- nextSequence
                nextSequence = present
            } else {
                done &+= bridge(output, offset: offset &+ done, frameCount: frameCount &- done, gap: .max)
            }
        }
    }

    /// Lets go of what was made up for a packet that is there by now.
    @_noLocks
    private mutating func hasComeAfterAll() -> Bool {
        guard stageIsConcealment, let header = buffer.header(of: nextSequence), header.position <= cursor,
            header.position &+ header.frameCount > cursor
        else { return false }
        statistics.concealedFrames &-= staged
        staged = 0
        return true
    }

    /// Plays from the decoded packet; what lies before the cursor is left out, what lies behind a gap waits.
    @_noLocks
    private mutating func playStage(_ output: Channels, offset: Int, frameCount: Int) -> Int {
        let ahead = cursor &- stagePosition
        if ahead < 0 { return bridge(output, offset: offset, frameCount: min(frameCount, 0 &- ahead), gap: 0) }
        if ahead > 0 {
            let left = min(ahead, staged)
            staged &-= left
            stageOffset &+= left
            stagePosition &+= left
            return 0
        }
        let count = min(staged, frameCount)
        for c in 0..<output.count { copySamples(output[c] + offset, stage[c] + stageOffset, count) }
        concealer.pass(output, offset: offset, frameCount: count)
        if stageIsConcealment {
            madeUpFrames &+= count
        } else {
            isGlitching = false
            madeUpFrames = 0
        }
        staged &-= count
        stageOffset &+= count
        stagePosition &+= count
        cursor &+= count
        return count
    }

    /// Makes up frames for a gap of `gap` frames (.max where its end is not known). The Opus decoder
    /// does so itself for 60 ms (a vowel it would hold for seconds); all else is prediction, which fades. Before the first packet there is silence.
    /// - Returns: the frames written, or 0 when a made-up packet was staged.
    @_noLocks
    private mutating func bridge(_ output: Channels, offset: Int, frameCount: Int, gap: Int) -> Int {
        guard sounded else {
            for c in 0..<output.count { clearSamples(output[c] + offset, frameCount) }
            cursor &+= frameCount
            return frameCount
        }
        noteGlitch()
        // Opus makes up a packet whole, as its coders expect: in pieces of 2.5 ms, though they are allowed, the phase is lost at
        // each, which costs half a point of PESQ at 5 % of loss. A packet that comes a little late is joined in its middle.
        let step = min(gap, framesPerPacket) / 120 &* 120
        if let opus, isInOpus, step > 0, staged == 0, !concealer.isActive, bridgedFrames < opusBridgeLimit {
            let frames = opus.conceal(into: stage, offset: 0, frameCount: step)
            if frames > 0 {
                statistics.concealedFrames &+= frames
                bridgedFrames &+= frames
                setStage(position: cursor, frameCount: frames, isConcealment: true)
                return 0
            }
        }
        concealer.conceal(output, offset: offset, frameCount: frameCount)
        statistics.concealedFrames &+= frameCount
        madeUpFrames &+= frameCount
        cursor &+= frameCount
        return frameCount
    }

    /// Stages what a packet carries of the one before it, where only that is missing (Opus's in-band FEC).
    @_noLocks
    private mutating func recover(before header: PacketHeader) -> Bool {
        let gap = header.position &- cursor
        guard let opus, isInOpus, isOpus(header) else { return false }
        guard staged == 0, gap == framesPerPacket, gap <= stageCapacity else { return false }
        let bytes = buffer.payload(of: header.sequence).assumingMemoryBound(to: UInt8.self)
        guard opus.carriesEarlier(bytes, byteCount: header.byteCount) else { return false }
        let frames = opus.recover(
            before: bytes, byteCount: header.byteCount, into: stage, offset: 0, frameCount: gap)
        guard frames > 0 else { return false }
        statistics.recoveredPackets &+= 1
        statistics.codecRecoveredPackets &+= 1
        setStage(position: cursor, frameCount: frames, isConcealment: false)
        return true
    }

    private var opusBridgeLimit: Int { @_noLocks get { Int(0.060 * configuration.streamRate) } }

    @_noLocks
    private mutating func decode(_ header: PacketHeader) {
        let payload = buffer.payload(of: header.sequence)
        let bytes = payload.assumingMemoryBound(to: UInt8.self)
        var frames = 0
        let wasOpus = isOpus(header)
        if wasOpus {
            if let opus {
                if !isInOpus { opus.reset() }
                frames = opus.decode(
                    bytes, byteCount: header.byteCount, into: stage, offset: 0, frameCount: stageCapacity)
            }
        } else {
            frames = decodeOther(payload, header)
        }
        // A packet that does not decode leaves a gap, which is bridged as any other.
        guard frames > 0 else { return }
        isInOpus = wasOpus
        framesPerPacket = frames
        setStage(position: header.position, frameCount: frames, isConcealment: false)
    }

    /// Whether a packet is Opus: of a stream of it, or in the place of PCM.
    @_noLocks
    func isOpus(_ header: PacketHeader) -> Bool {
        if header.isReserve, opus != nil { return true }
        switch configuration.coding {
        case .opus: return true
        case .pcm, .opusCustom, .decoded: return false
        }
    }

    @_noLocks
    private mutating func decodeOther(_ payload: UnsafeMutableRawPointer, _ header: PacketHeader) -> Int {
        let bytes = payload.assumingMemoryBound(to: UInt8.self)
        switch configuration.coding {
        case .pcm:
            return PCMCodec.decode(
                bytes, byteCount: header.byteCount, channelCount: configuration.channelCount, into: stage, offset: 0)
        case .opus: return 0
        case .opusCustom: return decodeCustom(bytes, header)
        case .decoded:
            let samples = payload.assumingMemoryBound(to: Float.self)
            let frames = header.frameCount
            for c in 0..<configuration.channelCount { copySamples(stage[c], samples + c &* frames, frames) }
            return frames
        }
    }

    @_noLocks
    private mutating func setStage(position: Int, frameCount: Int, isConcealment: Bool) {
        sounded = true
        stagePosition = position
        stageOffset = 0
        staged = frameCount
        stageIsConcealment = isConcealment
        if !isConcealment { bridgedFrames = 0 }
    }
}
