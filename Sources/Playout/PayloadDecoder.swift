import AudioBase
import AudioCodecs

/// Decodes packets of the stream's codec and of its fallback codec to a ``PacketStage``.
struct PayloadDecoder: ~Copyable {
    var stage: PacketStage
    /// Frames of the packet decoded last.
    private(set) var framesPerPacket: Int

    private let coding: PlayoutCoding
    private let channelCount: Int
    private let opus: OpusDecoder.Renderer?
    private let opusCustom: OpusCustomDecoder.Renderer?
    private let concealmentLimit: Int  // frames that Opus conceals in a row
    private var isInOpus: Bool  // the packet decoded last was Opus
    private var customEnd = -1  // the stream's frame up to which the Opus Custom decoder has followed
    private var concealedFrames = 0  // by Opus since the last packet

    init(_ configuration: PlayoutConfiguration, opus: OpusDecoder.Renderer?, opusCustom: OpusCustomDecoder.Renderer?) {
        coding = configuration.coding
        channelCount = configuration.channelCount
        framesPerPacket = configuration.framesPerPacket
        self.opus = opus
        self.opusCustom = opusCustom
        concealmentLimit = Int(0.060 * configuration.streamRate)
        isInOpus = configuration.coding == .opus
        stage = PacketStage(channelCount: configuration.channelCount, capacity: OpusDecoder.maximumFrameCount)
    }

    /// Decodes a packet to the stage. A packet that cannot be decoded leaves the stage empty.
    @_noLocks
    mutating func decode(_ header: PacketHeader, _ payload: UnsafeMutableRawPointer) {
        let bytes = payload.assumingMemoryBound(to: UInt8.self)
        var frames = 0
        let isOpus = isOpus(header)
        if isOpus {
            if let opus {
                if !isInOpus { opus.reset() }
                frames = opus.decode(
                    bytes, byteCount: header.byteCount, into: stage.channels, offset: 0, frameCount: stage.capacity)
            }
        } else {
            frames = decodeOther(payload, header)
        }
        guard frames > 0 else { return }
        isInOpus = isOpus
        framesPerPacket = frames
        concealedFrames = 0
        stage.set(position: header.position, frameCount: frames, isConcealment: false)
    }

    /// Lets the codec conceal frames from `position` on. It does so for 60 ms, as it would hold a vowel for seconds.
    ///
    /// Opus conceals a packet whole, as its coders expect: in pieces of 2.5 ms, though they are allowed, it loses the phase at
    /// each, which costs half a point of PESQ at 5 % of loss. A packet that is a little late joins in the middle.
    /// - Parameter gap: frames to the next packet, .max if unknown.
    /// - Returns: the frames concealed; 0 if the codec conceals none.
    @_noLocks
    mutating func conceal(position: Int, gap: Int) -> Int {
        let step = min(gap, framesPerPacket) / 120 &* 120
        guard let opus, isInOpus, step > 0, stage.frameCount == 0, concealedFrames < concealmentLimit else { return 0 }
        let frames = opus.conceal(into: stage.channels, offset: 0, frameCount: step)
        guard frames > 0 else { return 0 }
        concealedFrames &+= frames
        stage.set(position: position, frameCount: frames, isConcealment: true)
        return frames
    }

    /// Decodes a packet's copy of the packet before it (Opus's in-band FEC) if only that one is missing.
    /// - Returns: false if there is no such copy.
    @_noLocks
    mutating func recover(position: Int, before header: PacketHeader, _ payload: UnsafeMutableRawPointer) -> Bool {
        let gap = header.position &- position
        guard let opus, isInOpus, isOpus(header) else { return false }
        guard stage.frameCount == 0, gap == framesPerPacket, gap <= stage.capacity else { return false }
        let bytes = payload.assumingMemoryBound(to: UInt8.self)
        guard opus.carriesEarlier(bytes, byteCount: header.byteCount) else { return false }
        let frames = opus.recover(
            before: bytes, byteCount: header.byteCount, into: stage.channels, offset: 0, frameCount: gap)
        guard frames > 0 else { return false }
        concealedFrames = 0
        stage.set(position: position, frameCount: frames, isConcealment: false)
        return true
    }

    /// Returns true if the packet carries a copy of the one before it.
    @_noLocks
    func carriesPrevious(_ header: PacketHeader, _ payload: UnsafeMutableRawPointer) -> Bool {
        guard let opus, isOpus(header) else { return false }
        return opus.carriesEarlier(payload.assumingMemoryBound(to: UInt8.self), byteCount: header.byteCount)
    }

    /// Forgets the stream so far.
    @_noLocks
    mutating func reset() {
        opus?.reset()
        opusCustom?.reset()
        stage.removeAll()
        customEnd = -1
    }

    @_noLocks
    private func isOpus(_ header: PacketHeader) -> Bool {
        if header.isFallbackCodec, opus != nil { return true }
        switch coding {
        case .opus: return true
        case .pcm, .opusCustom, .decoded: return false
        }
    }

    @_noLocks
    private mutating func decodeOther(_ payload: UnsafeMutableRawPointer, _ header: PacketHeader) -> Int {
        let bytes = payload.assumingMemoryBound(to: UInt8.self)
        switch coding {
        case .pcm:
            return PCMCodec.decode(
                bytes, byteCount: header.byteCount, channelCount: channelCount, into: stage.channels, offset: 0)
        case .opus: return 0
        case .opusCustom: return decodeCustom(bytes, header)
        case .decoded:
            let samples = payload.assumingMemoryBound(to: Float.self)
            let frames = header.frameCount
            for c in 0..<channelCount { copySamples(stage.channels[c], samples + c &* frames, frames) }
            return frames
        }
    }

    /// Decodes a packet of Opus Custom: as many frames of one size as its header's length tells.
    /// - Returns: the frames of sound, 0 if none decodes.
    @_noLocks
    private mutating func decodeCustom(_ bytes: UnsafePointer<UInt8>, _ header: PacketHeader) -> Int {
        guard let opusCustom, header.frameCount <= stage.capacity else { return 0 }
        let length = opusCustom.frameCount
        let count = header.frameCount / length
        guard count > 0 else { return 0 }
        let size = header.byteCount / count
        if customEnd >= 0 { followLoss((header.position &- customEnd) / length, opusCustom) }
        var done = 0
        for frame in 0..<count {
            let decoded = opusCustom.decode(
                bytes + frame &* size, byteCount: size, into: stage.channels, offset: done)
            guard decoded > 0 else { break }
            done &+= decoded
        }
        customEnd = header.position &+ done
        return done
    }

    /// Lets the decoder conceal lost frames unheard (linear prediction is heard), so that the next one joins what it knows. After
    /// eight frames it knows nothing more that lasts.
    @_noLocks
    private mutating func followLoss(_ missing: Int, _ opusCustom: OpusCustomDecoder.Renderer) {
        var remaining = min(missing, 8)
        while remaining > 0 {
            _ = opusCustom.conceal(into: stage.channels, offset: 0)
            remaining &-= 1
        }
    }
}
