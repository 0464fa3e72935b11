// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport

/// Encodes for one remote peer whose link was too slow, or whose format has changed: the captured frames of its
/// ``StreamEncoder``, on the rung of ``RatePolicy``. No frame is missing between two rungs, or between two formats.
///
/// Between rungs with the same Opus encoder only its bit rate and packet length change. A different encoder starts with a
/// repetition of the end of the last packet, and with a packet that needs no earlier ones, so that any decoder can join. Packet
/// positions are shifted by the difference between the encoder's look-ahead and the first rung's, so that the sound keeps its
/// time. For the media thread; created on the control thread.
final class RateEncoder {
    private enum Engine: Equatable { case pcm, first, opus }

    private let ladder: [RateRung]
    private let channelCount: Int
    private let firstLookahead: Int
    private let first: OpusEncoder?  // for a first rung with packets of 2.5 or 5 ms, which need a low-delay encoder
    private let opus: OpusEncoder
    private var engine: Engine?
    private var packetFrames = 0
    private var bitRate = 0
    private var cursor = 0  // the position of the frame that is encoded next; .max while interrupted
    private var isBeginning = false
    private var isPriming = false  // the next frames are encoded without a packet
    private var beginning = RateEncoder.shortestBeginning
    private var independentFrames = 0  // the frames that are still encoded independently of earlier packets
    private var isAfterGap = false
    private var sharedEnd = 0  // the position up to which the peer has the shared encoder's stream
    /// The end of the sound that the remote peer has from its previous encoder; nil after the first packet of this one.
    private var previousEnd: Int?
    /// True if this encoder continues the sound of another.
    private(set) var continuesSound = false
    private let bytes: UnsafeMutableRawPointer
    private static let capacity = 2_048

    /// The minimum frames of a new encoder's first packet, its maximum frames, and the frames of its overlap with the last one: a
    /// decoder fades in its first 120 frames.
    private static let (shortestBeginning, longestBeginning, overlap) = (480, 960, 120)
    /// The frames that a new encoder gets before its first packet. Without them its look-ahead would be silence that ends
    /// abruptly.
    private static let primingFrames = 480
    /// The frames after a new beginning or a gap that are encoded independently, without the codec's pitch filter, which reaches
    /// back up to 1,024 frames: the decoder has other earlier sound than the encoder, or none.
    static let independentBeginning = 1_200
    /// The past frames that a rate encoder may need.
    static let history = OpusEncoder.longestFrameCount + 1_024

    init(_ configuration: CallConfiguration) throws(CodecError) {
        ladder = configuration.ladder
        channelCount = configuration.channelCount
        firstLookahead = configuration.codecShift
        let isShort = configuration.codec == .opus && configuration.framesPerPacket < 480
        first =
            isShort
            ? try OpusEncoder(
                channelCount: channelCount, frameDuration: .microseconds2500, bitRate: configuration.bitRate) : nil
        opus = try OpusEncoder(channelCount: channelCount, frameDuration: .milliseconds20, bitRate: 64_000)
        bytes = .allocate(byteCount: Self.capacity, alignment: 16)
    }

    deinit { bytes.deallocate() }

    /// Returns true once the remote peer gets its payloads from this encoder.
    var isActive: Bool { engine != nil }

    /// Returns the stream's frames until the next packet is complete, at least 1.
    /// - Parameter end: the position of the first frame not captured yet.
    func framesUntilNextPacket(end: Int) -> Int {
        engine == nil || engine == .pcm || cursor == .max
            ? 1 : max(1, cursor + nextFrames - end)
    }

    /// The number of frames to encode next.
    private var nextFrames: Int { isPriming ? Self.primingFrames : isBeginning ? beginning : packetFrames }

    /// Notes that the remote peer gets the shared encoder's stream up to a position and nothing after it.
    func leaveShared(at position: Int) { sharedEnd = position }

    /// Drops everything captured so far; later sound starts a new packet.
    func interrupt() {
        isAfterGap = true
        engine = engine == nil ? nil : .pcm
        cursor = .max
    }

    /// Continues the sound that the remote peer has in its previous format, before anything is encoded.
    /// - Parameters:
    ///   - past: the encoder of the previous format.
    ///   - stream: the captured frames, for both formats.
    func continueSound(from past: RateEncoder, of stream: StreamEncoder) {
        continuesSound = true
        if past.cursor == .max { return interrupt() }
        previousEnd =
            past.isActive || past.continuesSound ? past.soundEnd : stream.encodedEnd - past.firstLookahead
    }

    /// The end of the sound that the remote peer can hear: an encoder holds its look-ahead back.
    private var soundEnd: Int {
        if let previousEnd { return previousEnd }
        return engine == nil ? sharedEnd - firstLookahead : cursor - lookahead(engine)
    }

    /// Encodes complete packets.
    /// - Parameters:
    ///   - rung: a rung of the ladder.
    ///   - expectedLoss: the loss in percent for Opus's own redundancy; 0 for none.
    ///   - stream: the captured frames.
    ///   - emit: receives each payload, its position on the stream's timeline, its codec, and whether a gap precedes it.
    func encode(
        rung: Int, expectedLoss: Int, of stream: StreamEncoder,
        _ emit: (_ payload: UnsafeRawBufferPointer, _ position: Int, _ codec: Codec, _ isAfterGap: Bool) -> Void
    ) throws(CodecError) {
        follow(ladder[rung], rung, stream)
        encoder?.setExpectedLoss(percent: expectedLoss)
        if cursor < stream.historyStart {
            cursor = stream.historyStart
            isAfterGap = true
            isPriming = false
            independentFrames = Self.independentBeginning
            // The encoder would join the sound before the gap to the sound after it, with a step.
            encoder?.reset()
        }
        switch engine {
        case .pcm: encodePCM(stream, emit)
        case .first: try encodeOpus(first ?? opus, stream, emit)
        case .opus: try encodeOpus(opus, stream, emit)
        case nil: break
        }
    }

    private func follow(_ rung: RateRung, _ index: Int, _ stream: StreamEncoder) {
        let wanted: Engine = rung.codec == .pcm ? .pcm : index == 0 && first != nil ? .first : .opus
        let isInterrupted = cursor == .max
        packetFrames = rung.framesPerPacket
        if wanted != engine || isInterrupted {
            let heardEnd = soundEnd
            engine = wanted
            isPriming = false
            beginning = Self.shortestBeginning
            independentFrames = Self.independentBeginning
            if isInterrupted {
                // Encodes one packet of earlier frames too, so that the sound does not stop until the next packet is full.
                let extraFrames = wanted == .pcm ? 0 : packetFrames
                cursor = max(stream.historyStart, stream.historyEnd - beginning - extraFrames)
            } else {
                previousEnd = heardEnd
                start(at: heardEnd, stream)
            }
            isBeginning = wanted != .pcm
            encoder?.reset()
            bitRate = 0
        }
        if bitRate != rung.bitRate {
            bitRate = rung.bitRate
            encoder?.setBitRate(bitRate)
        }
    }

    /// Continues sound that the remote peer has up to a position.
    private func start(at heardEnd: Int, _ stream: StreamEncoder) {
        guard engine != .pcm else { return cursor = max(stream.historyStart, heardEnd) }
        // The first packet is as long as the others: after a shorter packet the next one would arrive too late.
        beginning = max(Self.shortestBeginning, min(Self.longestBeginning, packetFrames))
        cursor = heardEnd + lookahead(engine) - Self.overlap - Self.primingFrames
        isPriming = cursor >= stream.historyStart
        if !isPriming { cursor = max(stream.historyStart, heardEnd - Self.overlap) }
    }

    private var encoder: OpusEncoder? {
        switch engine {
        case .first: first ?? opus
        case .opus: opus
        case .pcm, nil: nil
        }
    }

    private func lookahead(_ engine: Engine?) -> Int {
        switch engine {
        case .pcm, nil: 0
        case .first: first?.lookahead ?? opus.lookahead
        case .opus: opus.lookahead
        }
    }

    private func encodeOpus(
        _ encoder: OpusEncoder, _ stream: StreamEncoder,
        _ emit: (UnsafeRawBufferPointer, Int, Codec, Bool) -> Void
    ) throws(CodecError) {
        while true {
            let frames = nextFrames
            guard stream.historyEnd - cursor >= frames else { return }
            let isIndependent = independentFrames > 0
            if isIndependent { encoder.setIndependent(true) }
            let count = try encoder.encode(
                stream.history, offset: stream.historyOffset(of: cursor), frameCount: frames,
                into: UnsafeMutableRawBufferPointer(start: bytes, count: Self.capacity))
            if isIndependent { encoder.setIndependent(false) }
            if isPriming {
                isPriming = false
                cursor += frames
                continue
            }
            independentFrames -= min(frames, independentFrames)
            isBeginning = false
            give(count, at: cursor - encoder.lookahead + firstLookahead, .opus, emit)
            cursor += frames
        }
    }

    private func encodePCM(_ stream: StreamEncoder, _ emit: (UnsafeRawBufferPointer, Int, Codec, Bool) -> Void) {
        let available = stream.historyEnd - cursor
        guard available > 0 else { return }
        for frames in PCMPayload.split(frameCount: available, channelCount: channelCount) {
            let count = PCMCodec.encode(
                stream.history, offset: stream.historyOffset(of: cursor) + frames.lowerBound, frameCount: frames.count,
                into: bytes.assumingMemoryBound(to: UInt8.self))
            give(count, at: cursor + frames.lowerBound, .pcm, emit)
        }
        cursor += available
    }

    private func give(
        _ count: Int, at position: Int, _ codec: Codec, _ emit: (UnsafeRawBufferPointer, Int, Codec, Bool) -> Void
    ) {
        emit(UnsafeRawBufferPointer(start: bytes, count: count), position, codec, isAfterGap)
        isAfterGap = false
        previousEnd = nil
    }
}
