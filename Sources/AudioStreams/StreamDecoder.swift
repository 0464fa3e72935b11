// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioDSP
import EarshotAudioFiles

/// Decodes a stream's bytes into a ring of frames in the output's format: parser, decoder, channel and sample rate conversion.
///
/// It decodes only as much as the ring has room for, and holds only the packets of the bytes last enqueued. For one thread at a
/// time.
final class StreamDecoder {
    /// Frames decoded and written to the ring, at the output's sample rate.
    private(set) var framesWritten = 0
    private(set) var packetsConcealed = 0
    private(set) var bytesSkipped = 0
    /// The total number of frames at the output's sample rate; nil if the header does not declare it.
    private(set) var frameCount: Int?
    /// The position in the sound of the next frame to be written, minus ``framesWritten``; in frames.
    private(set) var shift = 0
    /// Titles of frames written to the ring. The caller removes the titles that it has read.
    var titles: [AudioStreamTitle] = []

    private let format: AudioFormat
    private let ring: AudioRing
    private var parser = AudioStreamParser()
    private var events: [AudioStreamEvent] = []
    private var nextEvent = 0  // index in `events` of the next one to handle
    private var pendingTitles: [ICYParser.Title] = []
    private var packetFormat: PacketFormat?  // of the following packets, until their decoder is created
    private var stage: Stage?
    private var goal: StreamGoal?
    private var framesToDrop = 0  // still to be dropped before a seek's target
    private static let maximumPendingTitles = 64

    /// The parts that are replaced when the stream's format changes.
    private struct Stage {
        let packets: PacketFormat
        let decoder: ConcealingDecoder
        let converter: RateConverter
        let decoded: AudioBuffer
        let mapped: AudioBuffer
        let converted: AudioBuffer
        var framesIn = 0  // passed to the rate converter
        var framesOut = 0  // returned by the rate converter
        let ratio: Double  // output's sample rate / stream's
    }
    private static let framesPerPiece = 1_024  // the maximum converted at once

    /// - Parameter ring: the destination, with the output's channels; this decoder is its only writer.
    init(format: AudioFormat, ring: AudioRing) {
        self.format = format
        self.ring = ring
    }

    /// True if all received data has been decoded.
    var isIdle: Bool { nextEvent == events.count }

    /// Accepts the next bytes. Call it only while the decoder is idle, so that its memory is bounded.
    func enqueue(_ bytes: [UInt8], titles: [ICYParser.Title] = []) throws(StreamParserError) {
        pendingTitles += titles
        if pendingTitles.count > Self.maximumPendingTitles {
            pendingTitles.removeFirst(pendingTitles.count - Self.maximumPendingTitles)
        }
        forgetDone()
        try parser.parse(bytes, into: &events)
    }

    /// Parses the last bytes after the end of the connection.
    func finish() throws(StreamParserError) {
        forgetDone()
        try parser.finish(into: &events)
    }

    /// Discards all data that is not decoded, and the stream's format, before another stream follows.
    func reset() {
        renew()
        stage = nil
        forget()
        frameCount = nil
        shift = 0
    }

    /// Converts a header's number of frames to the output's sample rate; nil if it is too large to be true.
    private func frames(_ count: Int, of stream: AudioFormat) -> Int? {
        let frames = (Double(count) * format.sampleRate / stream.sampleRate).rounded(.up)
        return frames >= 0 && frames < 0x1p53 ? Int(frames) : nil
    }

    /// Prepares the parser for the first byte of a stream.
    func renew() {
        parser = AudioStreamParser()
        pendingTitles = []
    }

    /// Discards data that is not decoded yet. Later data need not continue it.
    func forget() {
        events = []
        (nextEvent, framesToDrop, goal, packetFormat) = (0, 0, nil, nil)
        pendingTitles = []
        guard let old = stage else { return }
        old.decoder.reset()
        stage = nil
        stage = makeStage(old.decoder, old.packets)
    }

    // MARK: Seeking

    /// Returns the byte offset, exact or estimated, from which `frame` is decoded with the same result as from the beginning; nil
    /// while it is not known.
    /// - Parameters:
    ///   - frame: a position in the sound, at the output's sample rate.
    ///   - byteCount: the length of the whole stream; nil if not known.
    func hint(for frame: Int, byteCount: Int?) -> SeekHint? {
        guard let stage else { return nil }
        let needed = StreamGoal.firstNeeded(frame, format, stage.decoder, stage.packets)
        return parser.seekHint(forFrame: needed, byteCount: byteCount)
    }

    /// Continues with the bytes from `hint` on, and writes the frames from the position `frame` on.
    /// - Parameter hint: nil for the beginning.
    func seek(to frame: Int, at hint: SeekHint?) {
        forget()
        if let hint, hint.byteOffset > 0 { parser.resume(at: hint) } else { renew() }
        goal = StreamGoal(frame: frame, byteOffset: hint?.byteOffset ?? 0)
        shift = frame - framesWritten
    }

    /// Returns a better byte offset if the first packet after a seek is far from the target. nil if that packet is near, has not
    /// come yet or was checked before.
    func betterHint(byteCount: Int?) -> SeekHint? {
        guard let goal, let stage, !goal.isJudged else { return nil }
        for case .packet(let packet) in events {
            self.goal?.isJudged = true
            let needed = StreamGoal.firstNeeded(goal.frame, format, stage.decoder, stage.packets)
            let ahead = needed - packet.framePosition
            if ahead >= 0, Double(ahead) <= StreamGoal.reach * stage.packets.format.sampleRate { return nil }
            let hint = hint(for: goal.frame, byteCount: byteCount)
            return hint?.byteOffset == goal.byteOffset ? nil : hint
        }
        return nil
    }

    /// The frame that a seek is to reach; nil if no seek is under way.
    var goalFrame: Int? { goal?.frame }

    /// Returns the frames to drop at the beginning of a packet after a seek; nil if the whole packet comes before the target.
    private func lead(to goal: StreamGoal, _ packet: AudioStreamPacket, _ count: Int, _ stage: Stage) -> Int? {
        let position = stage.decoder.frames(packet.framePosition)
        let input = goal.input(at: position, from: stage.decoder.format.sampleRate, to: format.sampleRate)
        guard input - position < count else { return nil }
        let output = Int((Double(input) * stage.ratio).rounded())
        framesToDrop = max(0, goal.frame - output)
        shift = output + framesToDrop - framesWritten
        self.goal = nil
        return input - position
    }

    private func forgetDone() {
        events.removeSubrange(0..<nextEvent)
        nextEvent = 0
    }

    /// Decodes while the ring has room.
    func work() throws(CodecError) {
        while nextEvent < events.count {
            switch events[nextEvent] {
            case .format(let stream):
                packetFormat = stream.packets
                frameCount = stream.frameCount.flatMap { frames($0, of: stream.packets.format) }
                if let text = stream.title { titles.append(AudioStreamTitle(text: text, frame: framesWritten + shift)) }
            case .packet(let packet):
                guard try decode(packet) else { return }
            case .skipped(let count, _): if goal == nil { bytesSkipped += count }  // else a seek has cut a packet
            }
            nextEvent += 1
        }
        forgetDone()
    }

    /// Writes the frames that the rate converter still holds, at the end. Returns false while the ring has no room.
    func drain() -> Bool {
        guard let stage else { return true }
        return drain(stage)
    }

    private func drain(_ stage: Stage) -> Bool {
        let framesToDrain = Int((Double(stage.framesIn) * stage.ratio).rounded(.up)) - stage.framesOut
        guard framesToDrain > 0 else { return true }
        guard ring.capacity - ring.writer.heldFrames >= framesToDrain else { return false }
        for c in 0..<stage.mapped.channels.count { clearSamples(stage.mapped.channels[c], stage.mapped.frameCapacity) }
        var framesLeft = framesToDrain
        while framesLeft > 0 {
            let room = min(framesLeft, stage.converted.frameCapacity)
            let (_, produced) = stage.converter.convert(
                stage.mapped.channels, frameCount: min(256, stage.mapped.frameCapacity), into: stage.converted.channels,
                frameCapacity: room)
            store(stage.converted, produced)
            framesLeft -= produced
        }
        self.stage?.framesOut += framesToDrain
        return true
    }

    /// Decodes a packet into the ring. Returns false, and decodes nothing, if the ring lacks room for the decoder's next output.
    private func decode(_ packet: AudioStreamPacket) throws(CodecError) -> Bool {
        if let packetFormat {
            let decoder = try ConcealingDecoder(packetFormat, firstPacket: packet.bytes)
            if let stage, stage.decoder.format.sampleRate != decoder.format.sampleRate {
                guard drain(stage) else { return false }
                self.stage = nil
            }
            stage = makeStage(decoder, packetFormat)
            self.packetFormat = nil
        }
        guard let stage else { return true }
        let maximumFrames = Int(Double(stage.decoder.maximumFramesPerPacket) * stage.ratio) + 2 * Self.framesPerPiece
        guard ring.capacity - ring.writer.heldFrames >= maximumFrames else { return false }
        while let title = pendingTitles.first, title.offset <= packet.byteOffset {
            titles.append(AudioStreamTitle(text: title.text, frame: framesWritten + shift))
            pendingTitles.removeFirst()
        }
        let (before, isRunIn) = (stage.decoder.concealedPackets, goal != nil)
        let frames = packet.bytes.withUnsafeBytes {
            stage.decoder.decode($0, frameCount: packet.frameCount, into: stage.decoded.channels)
        }
        if !isRunIn { packetsConcealed += stage.decoder.concealedPackets - before }
        let firstFrame = min(frames, stage.decoder.frames(packet.audibleFrames.lowerBound))
        let endFrame = min(frames, stage.decoder.frames(packet.audibleFrames.upperBound))
        var nextFrame = firstFrame
        if let goal {
            guard let lead = lead(to: goal, packet, endFrame - firstFrame, stage) else { return true }
            nextFrame += lead
        }
        while nextFrame < endFrame {
            let count = min(Self.framesPerPiece, endFrame - nextFrame)
            mapChannels(stage.decoded.channels, from: nextFrame, to: stage.mapped.channels, frameCount: count)
            convert(stage, count)
            nextFrame += count
        }
        return true
    }

    private func convert(_ stage: Stage, _ count: Int) {
        var done = 0
        while done < count {
            let (consumed, produced) = stage.converter.convert(
                stage.mapped.channels, frameCount: count - done, inputOffset: done, into: stage.converted.channels,
                frameCapacity: stage.converted.frameCapacity)
            store(stage.converted, produced)
            done += consumed
            self.stage?.framesOut += produced
        }
        self.stage?.framesIn += count
    }

    private func store(_ buffer: AudioBuffer, _ count: Int) {
        let droppedFrames = min(framesToDrop, count)
        framesToDrop -= droppedFrames
        guard count > droppedFrames else { return }
        ring.writer.write(buffer.channels, frameCount: count - droppedFrames, offset: droppedFrames)
        framesWritten += count - droppedFrames
    }

    /// Creates the stage of a decoder. The present stage's rate converter is kept if there is one: the caller has removed a stage
    /// of another sample rate.
    private func makeStage(_ decoder: ConcealingDecoder, _ packets: PacketFormat) -> Stage {
        let rate = decoder.format.sampleRate
        let decoded = AudioBuffer(
            channelCount: decoder.format.channelCount, frameCapacity: decoder.maximumFramesPerPacket)
        return Stage(
            packets: packets, decoder: decoder,
            converter: stage?.converter
                ?? RateConverter(from: rate, to: format.sampleRate, channelCount: format.channelCount),
            decoded: decoded,
            mapped: AudioBuffer(channelCount: format.channelCount, frameCapacity: Self.framesPerPiece),
            converted: AudioBuffer(channelCount: format.channelCount, frameCapacity: 2 * Self.framesPerPiece),
            framesIn: stage?.framesIn ?? 0, framesOut: stage?.framesOut ?? 0, ratio: format.sampleRate / rate)
    }

    /// Returns the least capacity of a ring, in frames, so that any packet fits.
    static func leastCapacity(_ format: AudioFormat) -> Int {
        2 * (Int(Double(OpusDecoder.maximumFrameCount) * max(1, format.sampleRate / 8_000)) + 4 * framesPerPiece)
    }
}
