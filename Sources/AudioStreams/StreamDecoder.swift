import AudioBase
import AudioCodecs
import AudioDSP
import AudioFiles

/// Bytes of a stream in, frames in a ring out, at the output's format: parser, decoder, channels, rate.
///
/// It decodes no more than the ring has room for and holds no more than the packets of the bytes it was last given. One thread at
/// a time.
final class StreamDecoder {
    /// What was decoded and stored so far, at the output's rate.
    private(set) var framesWritten = 0
    private(set) var packetsConcealed = 0
    private(set) var bytesSkipped = 0
    /// Frames in all, at the output's rate, where a header says so.
    private(set) var frameCount: Int?
    /// Titles that begin with a frame that is stored, to be taken away by the caller.
    var titles: [AudioStreamTitle] = []

    private let format: AudioFormat
    private let ring: AudioRing
    private var parser = AudioStreamParser()
    private var events: [AudioStreamEvent] = []
    private var next = 0  // of the events
    private var pendingTitles: [ICYParser.Title] = []
    private var packetFormat: PacketFormat?  // of what follows, while it has no decoder yet
    private var stage: Stage?
    private static let maximumPendingTitles = 64

    /// What is made anew where the stream's format changes.
    private struct Stage {
        var decoder: ConcealingDecoder
        let converter: RateConverter
        var decoded: AudioBuffer
        let mapped: AudioBuffer
        let converted: AudioBuffer
        var framesIn = 0
        var framesOut = 0
        let ratio: Double
    }
    private static let piece = 1_024  // frames converted at once

    /// - Parameter ring: with the output's channels; this is its one writer.
    init(format: AudioFormat, ring: AudioRing) {
        self.format = format
        self.ring = ring
    }

    /// Whether all that came has been decoded.
    var isIdle: Bool { next == events.count }

    /// Takes bytes that follow those before; only while it is idle, so that what it holds is bounded.
    func take(_ bytes: [UInt8], titles: [ICYParser.Title] = []) throws(StreamParserError) {
        pendingTitles += titles
        if pendingTitles.count > Self.maximumPendingTitles {
            pendingTitles.removeFirst(pendingTitles.count - Self.maximumPendingTitles)
        }
        forgetDone()
        try parser.parse(bytes, into: &events)
    }

    /// The connection is over: what its last bytes mean is decoded too, and another's may follow.
    func finish() throws(StreamParserError) {
        forgetDone()
        defer {
            parser = AudioStreamParser()
            pendingTitles = []
        }
        try parser.finish(into: &events)
    }

    /// Forgets all that came, before something else does.
    func reset() {
        parser = AudioStreamParser()
        events = []
        next = 0
        pendingTitles = []
        packetFormat = nil
        frameCount = nil
        stage = nil
    }

    /// What a header's number of frames is at the output's rate; nil where no stream can have so many.
    private func frames(_ count: Int, of stream: AudioFormat) -> Int? {
        let frames = (Double(count) * format.sampleRate / stream.sampleRate).rounded(.up)
        return frames >= 0 && frames < 0x1p53 ? Int(frames) : nil
    }

    private func forgetDone() {
        events.removeSubrange(0..<next)
        next = 0
    }

    /// Decodes as long as the ring has room.
    func work() throws(CodecError) {
        while next < events.count {
            switch events[next] {
            case .format(let stream):
                packetFormat = stream.packets
                frameCount = stream.frameCount.flatMap { frames($0, of: stream.packets.format) }
                if let text = stream.title { titles.append(AudioStreamTitle(text: text, frame: framesWritten)) }
            case .packet(let packet):
                guard try decode(packet) else { return }
            case .skipped(let count, _): bytesSkipped += count
            }
            next += 1
        }
        forgetDone()
    }

    /// Brings out what the converter still holds, at the end of all; false while the ring has no room.
    func drain() -> Bool {
        guard let stage else { return true }
        return drain(stage)
    }

    private func drain(_ stage: Stage) -> Bool {
        let wanted = Int((Double(stage.framesIn) * stage.ratio).rounded(.up)) - stage.framesOut
        guard wanted > 0 else { return true }
        guard ring.capacity - ring.writer.heldFrames >= wanted else { return false }
        for c in 0..<stage.mapped.channels.count { clearSamples(stage.mapped.channels[c], stage.mapped.frameCapacity) }
        var left = wanted
        while left > 0 {
            let room = min(left, stage.converted.frameCapacity)
            let (_, produced) = stage.converter.convert(
                stage.mapped.channels, frameCount: min(256, stage.mapped.frameCapacity), into: stage.converted.channels,
                frameCapacity: room)
            store(stage.converted, produced)
            left -= produced
        }
        self.stage?.framesOut += wanted
        return true
    }

    /// False where the ring has no room for what it may give.
    private func decode(_ packet: AudioStreamPacket) throws(CodecError) -> Bool {
        if let packetFormat {
            let decoder = try ConcealingDecoder(packetFormat, firstPacket: packet.bytes)
            if let stage, stage.decoder.format.sampleRate != decoder.format.sampleRate {
                guard drain(stage) else { return false }
                self.stage = nil
            }
            stage = makeStage(decoder)
            self.packetFormat = nil
        }
        guard let stage else { return true }
        let most = Int(Double(stage.decoder.maximumFramesPerPacket) * stage.ratio) + 2 * Self.piece
        guard ring.capacity - ring.writer.heldFrames >= most else { return false }
        while let title = pendingTitles.first, title.offset <= packet.byteOffset {
            titles.append(AudioStreamTitle(text: title.text, frame: framesWritten))
            pendingTitles.removeFirst()
        }
        let before = stage.decoder.concealedPackets
        let frames = packet.bytes.withUnsafeBytes {
            stage.decoder.decode($0, frameCount: packet.frameCount, into: stage.decoded.channels)
        }
        packetsConcealed += stage.decoder.concealedPackets - before
        let first = min(frames, stage.decoder.frames(packet.audibleFrames.lowerBound))
        let last = min(frames, stage.decoder.frames(packet.audibleFrames.upperBound))
        var at = first
        while at < last {
            let count = min(Self.piece, last - at)
            mapChannels(stage.decoded.channels, from: at, to: stage.mapped.channels, frameCount: count)
            convert(stage, count)
            at += count
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
        guard count > 0 else { return }
        ring.writer.write(buffer.channels, frameCount: count)
        framesWritten += count
    }

    /// What a decoder needs behind it: what the one before had, where the rate is the same.
    private func makeStage(_ decoder: ConcealingDecoder) -> Stage {
        let rate = decoder.format.sampleRate
        let decoded = AudioBuffer(
            channelCount: decoder.format.channelCount, frameCapacity: decoder.maximumFramesPerPacket)
        if var stage {
            stage.decoder = decoder
            stage.decoded = decoded
            return stage
        }
        return Stage(
            decoder: decoder,
            converter: RateConverter(from: rate, to: format.sampleRate, channelCount: format.channelCount),
            decoded: decoded,
            mapped: AudioBuffer(channelCount: format.channelCount, frameCapacity: Self.piece),
            converted: AudioBuffer(channelCount: format.channelCount, frameCapacity: 2 * Self.piece),
            ratio: format.sampleRate / rate)
    }

    /// Frames of room that a ring must have for any packet.
    static func leastCapacity(_ format: AudioFormat) -> Int {
        2 * (Int(Double(OpusDecoder.maximumFrameCount) * max(1, format.sampleRate / 8_000)) + 4 * piece)
    }
}
