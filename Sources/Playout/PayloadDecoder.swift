// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Decodes packets of the stream's codec and of its fallback codec to a ``PacketStage``.
struct PayloadDecoder: ~Copyable {
    var stage: PacketStage
    /// The frames of the last decoded packet; before the first one, the configured number.
    private(set) var framesPerPacket: Int

    private let main: RenderDecoder.Handle
    private let fallback: RenderDecoder.Handle?
    private let concealmentLimit: Int  // the maximum frames in a row that a codec conceals
    private var isInFallback = false  // the packet decoded last was in the fallback codec
    private var concealedFrames = 0  // by the codec since the last packet
    private var end = Int.min / 2  // the position after the last decoded packet

    init(_ configuration: PlayoutConfiguration, main: RenderDecoder.Handle, fallback: RenderDecoder.Handle?) {
        framesPerPacket = configuration.framesPerPacket
        self.main = main
        self.fallback = fallback
        concealmentLimit = Int(0.060 * configuration.streamRate)
        stage = PacketStage(channelCount: configuration.channelCount)
    }

    /// Returns true if the packet begins another form: it has another codec than the last decoded packet, or it repeats sound,
    /// because it is from another encoder. During concealment also if it is much longer.
    @_noLocks
    func changesForm(with header: PacketHeader, isConcealing: Bool) -> Bool {
        isFallback(header) != isInFallback || repeatsSound(header)
            || isConcealing && header.frameCount >= 2 &* framesPerPacket
    }

    @_noLocks @inline(__always)
    private func repeatsSound(_ header: PacketHeader) -> Bool {
        header.lookahead > 0 && header.position < end && end &- header.position < Self.longestRepetition
    }

    /// The frames of a new encoder's first packet that its decoder fades in.
    private static var fadedFrames: Int { @_noLocks get { 120 } }
    /// The frames from which on an overlap is no repetition by another encoder.
    private static var longestRepetition: Int { @_noLocks get { 960 } }

    /// Decodes a packet to the stage. A packet that cannot be decoded leaves the stage empty.
    @_noLocks
    mutating func decode(_ header: PacketHeader, _ payload: UnsafeMutableRawPointer) {
        guard !header.isFallbackCodec || fallback != nil else { return }
        let decoder = decoder(isFallback(header))
        let isNew = isFallback(header) != isInFallback || repeatsSound(header)
        if isNew { decoder.reset() }
        let frames = decoder.decode(call(header, payload, frameCount: header.frameCount))
        guard frames > 0 else { return }
        end = header.position &+ frames
        isInFallback = isFallback(header)
        framesPerPacket = frames
        concealedFrames = 0
        stage.set(position: header.position, frameCount: frames, isConcealment: false)
        if isNew, header.lookahead > 0 { stage.removeFirst(min(frames, Self.fadedFrames)) }
    }

    /// Lets the codec conceal frames from `position` on, for at most 60 ms; otherwise it would sustain a vowel for seconds.
    ///
    /// Opus conceals a whole packet at once, as its coders expect. If it concealed pieces of 2.5 ms, which is allowed, it would
    /// lose the phase at each piece; that costs half a point of PESQ at 5 % loss. A packet that is slightly late joins in the
    /// middle.
    /// - Parameter gap: the frames to the next packet; `.max` if unknown.
    /// - Returns: the frames concealed; 0 if the codec does not conceal.
    @_noLocks
    mutating func conceal(position: Int, gap: Int) -> Int {
        guard stage.frameCount == 0, concealedFrames < concealmentLimit else { return 0 }
        let frames = decoder(isInFallback).conceal(
            DecoderCall(
                bytes: nil, byteCount: 0, position: position, frameCount: min(gap, framesPerPacket),
                output: stage.channels, capacity: PacketStage.capacity))
        guard frames > 0 else { return 0 }
        concealedFrames &+= frames
        stage.set(position: position, frameCount: frames, isConcealment: true)
        return frames
    }

    /// Drops the codec's concealment before it is played. The codec then does not continue it in the next packet.
    @_noLocks
    mutating func rejectConcealment() {
        stage.removeAll()
        decoder(isInFallback).undoConcealment()
    }

    /// Decodes a packet's copy of the previous packet (Opus's in-band FEC) if only the previous packet is missing.
    /// - Returns: false if there is no such copy.
    @_noLocks
    mutating func recover(position: Int, before header: PacketHeader, _ payload: UnsafeMutableRawPointer) -> Bool {
        let gap = header.position &- position
        guard isFallback(header) == isInFallback, stage.frameCount == 0, gap == framesPerPacket else { return false }
        let (decoder, call) = (decoder(isInFallback), call(header, payload, frameCount: gap))
        guard decoder.carriesPrevious(call) else { return false }
        let frames = decoder.recoverPrevious(call)
        guard frames > 0 else { return false }
        concealedFrames = 0
        stage.set(position: position, frameCount: frames, isConcealment: false)
        return true
    }

    /// Returns true if the packet contains a copy of the previous one.
    @_noLocks
    func carriesPrevious(_ header: PacketHeader, _ payload: UnsafeMutableRawPointer) -> Bool {
        decoder(isFallback(header)).carriesPrevious(call(header, payload, frameCount: header.frameCount))
    }

    /// Forgets the stream.
    @_noLocks
    mutating func reset() {
        main.reset()
        fallback?.reset()
        end = .min / 2
        stage.removeAll()
    }

    @_noLocks @inline(__always)
    private func isFallback(_ header: PacketHeader) -> Bool { header.isFallbackCodec && fallback != nil }

    @_noLocks @inline(__always)
    private func decoder(_ isFallback: Bool) -> RenderDecoder.Handle {
        if isFallback, let fallback { return fallback }
        return main
    }

    @_noLocks @inline(__always)
    private func call(
        _ header: PacketHeader, _ payload: UnsafeMutableRawPointer, frameCount: Int
    ) -> DecoderCall {
        DecoderCall(
            bytes: UnsafePointer(payload.assumingMemoryBound(to: UInt8.self)), byteCount: header.byteCount,
            position: header.position, frameCount: frameCount, output: stage.channels, capacity: PacketStage.capacity)
    }
}
