import AudioBase
import AudioCodecs
import AudioDSP
import MediaTransport

/// Turns captured frames into payloads: to the stream's rate, into blocks, through the codec. On the media thread.
struct StreamEncoder: ~Copyable {
    private enum Engine {
        case pcm
        case opus(OpusEncoder)
        case aac(AACEncoder)
    }

    private let configuration: CallConfiguration
    private let engine: Engine
    private let resamples: Bool
    private var resampler: Resampler
    private let block: AudioBuffer  // at the stream's rate; `filled` frames wait for the block to be full
    private let readLimit: Int  // frames one read takes at most
    private let raw: AudioBuffer  // as read from the ring, at the device's rate
    private let bytes: UnsafeMutableRawPointer
    private static let payloadCapacity = 2048
    private var filled = 0
    private var filledPosition = 0  // of the block's first frame, on the stream's timeline
    private var ringPosition = 0  // of the next frame expected from the ring
    /// Blocks the encoder has taken and not given back yet.
    private var pending: [(position: Int, isAfterGap: Bool)] = []
    private var isAfterGap = true
    private var staleCount = 0  // the first so many of `pending` are not sent

    /// Frames lost before they could be encoded, at the device's rate: rejected by the ring or dropped as too old.
    private(set) var lostFrames = 0
    /// Frames that the device now calls with; another route may have other blocks than the call began with.
    var deviceBlock: Int

    init(_ configuration: CallConfiguration) throws(CodecError) {
        self.configuration = configuration
        deviceBlock = configuration.deviceBlock
        let channels = configuration.channelCount
        switch configuration.codec {
        case .pcm: engine = .pcm
        case .opus:
            guard let duration = OpusFrameDuration(rawValue: configuration.framesPerPacket) else {
                throw .unsupportedFormat(
                    codec: "Opus",
                    detail: "packets of \(configuration.framesPerPacket) frames; use 120, 240, 480 or 960")
            }
            engine = .opus(
                try OpusEncoder(channelCount: channels, frameDuration: duration, bitRate: configuration.bitRate))
        case .aac:
            engine = .aac(
                try AACEncoder(
                    sampleRate: configuration.streamRate, channelCount: channels, bitRate: configuration.bitRate))
        }
        let ratio = configuration.streamRate / configuration.deviceRate
        readLimit = configuration.deviceBlock * 3 / 2
        let resampled = Int((Double(readLimit) * ratio).rounded(.up)) + 2
        block = AudioBuffer(channelCount: channels, frameCapacity: configuration.framesPerPacket + resampled + 64)
        raw = AudioBuffer(channelCount: channels, frameCapacity: readLimit)
        resamples = configuration.deviceRate != configuration.streamRate
        resampler = Resampler(
            from: configuration.deviceRate, to: configuration.streamRate, channelCount: channels, halfLength: 32,
            maximumFrameCount: resampled)
        bytes = .allocate(byteCount: Self.payloadCapacity, alignment: 16)
        pending.reserveCapacity(8)
    }

    deinit { bytes.deallocate() }

    /// Reads all the ring holds and sends each payload that is complete.
    mutating func drain(
        _ ring: AudioRing.Reader, into sender: inout PacketSender, at now: HostTime,
        transmit: (UnsafeRawBufferPointer) -> Void
    ) throws(CodecError) {
        // What waited longer than 50 ms is no longer live: the oldest goes, and the far side hears a gap, not a delay.
        let bound = max(Int(configuration.deviceRate * 0.05), 4 * deviceBlock)
        while true {
            let wanted = framesToRead(held: ring.heldFrames)
            guard wanted > 0 else { return }
            let slice = ring.read(raw.channels, frameCount: wanted, holdingAtMost: bound)
            if slice.position != ringPosition { startAfterGap(of: slice.position - ringPosition) }
            ringPosition = slice.position + slice.frameCount
            if slice.frameCount == 0 { return }
            append(slice.frameCount)
            try encodeBlocks { (payload: UnsafeRawBufferPointer, position: Int, afterGap: Bool) in
                sender.send(payload, position: position, afterGap: afterGap, at: now, transmit)
            }
        }
    }

    /// PCM goes out as it comes, a packet a block; the others fill blocks of their own.
    private func framesToRead(held: Int) -> Int {
        guard configuration.codec == .pcm else { return min(held, configuration.deviceBlock) }
        return held <= readLimit ? held : configuration.deviceBlock
    }

    private mutating func startAfterGap(of frames: Int) {
        lostFrames += frames
        let scale = configuration.streamRate / configuration.deviceRate
        let gap = Int((Double(frames) * scale).rounded())
        filledPosition += filled + gap
        filled = 0
        isAfterGap = true
        // What the encoder still holds from before would come out now, later than its time by the gap.
        if gap > configuration.framesPerPacket { staleCount = pending.count }
    }

    /// Adds frames read from the ring to the block, at the stream's rate.
    private mutating func append(_ count: Int) {
        precondition(count <= readLimit)
        let channels = raw.channels
        guard resamples else {
            for c in 0..<channels.count { copySamples(block.channels[c] + filled, channels[c], count) }
            filled += count
            return
        }
        let frames = resampler.outputAvailable(afterAdding: count)
        for c in 0..<channels.count { copySamples(resampler.input[c] + resampler.inputOffset, channels[c], count) }
        resampler.render(block.channels, frameCount: frames, offset: filled, adding: count)
        filled += frames
    }

    private mutating func encodeBlocks(_ emit: (UnsafeRawBufferPointer, Int, Bool) -> Void) throws(CodecError) {
        var done = 0
        switch engine {
        case .pcm:
            for frames in PCMPayload.split(frameCount: filled, channelCount: configuration.channelCount) {
                let count = PCMCodec.encode(
                    block.channels, offset: frames.lowerBound, frameCount: frames.count,
                    into: bytes.assumingMemoryBound(to: UInt8.self))
                give(count, at: filledPosition + frames.lowerBound, emit)
            }
            done = filled
        case .opus(let encoder):
            while filled - done >= configuration.framesPerPacket {
                let count = try encoder.encode(
                    block.channels, offset: done,
                    into: UnsafeMutableRawBufferPointer(start: bytes, count: Self.payloadCapacity))
                give(count, at: filledPosition + done, emit)
                done += configuration.framesPerPacket
            }
        case .aac(let encoder):
            while filled - done >= configuration.framesPerPacket {
                pending.append((filledPosition + done, isAfterGap))
                isAfterGap = false
                if let unit = try encoder.encode(block.channels, offset: done) {
                    let block = pending.removeFirst()
                    if staleCount > 0 { staleCount -= 1 } else { emit(unit, block.position, block.isAfterGap) }
                }
                done += configuration.framesPerPacket
            }
        }
        filled -= done
        filledPosition += done
        for c in 0..<block.channels.count { moveSamples(block.channels[c], block.channels[c] + done, filled) }
    }

    private mutating func give(_ count: Int, at position: Int, _ emit: (UnsafeRawBufferPointer, Int, Bool) -> Void) {
        emit(UnsafeRawBufferPointer(start: bytes, count: count), position, isAfterGap)
        isAfterGap = false
    }
}
