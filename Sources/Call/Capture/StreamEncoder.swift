// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioDSP
import EarshotMediaTransport

/// Encodes captured frames: resampling to the stream's rate, division into blocks, codec. On the media thread, once for all
/// remote peers with the same ``Form``.
package final class StreamEncoder {
    /// The properties that must be equal for remote peers to share payloads.
    package struct Form: Hashable {
        let codec: Codec
        let streamRate: Double
        let framesPerPacket: Int
        let bitRate: Int
    }

    private let configuration: CallConfiguration
    let encoder: any PayloadEncoder
    private let unitFrames: Int  // packets have whole units
    private let isDelayed: Bool
    private let hasFixedPackets: Bool
    private let resamples: Bool
    private let readLimit: Int
    private var resampler: Resampler
    private let block: AudioBuffer  // at the stream's rate; its first `filledFrames` wait to be encoded
    private var filledFrames = 0
    private var blockPosition = 0  // the position of the block's first frame on the stream's timeline
    /// The packets given to a delayed encoder whose payload has not come yet.
    private var pending: [(position: Int, isAfterGap: Bool)] = []
    private var isAfterGap = true
    /// The latest captured frames, for a ``RateEncoder``: `pastCount` frames up to ``historyEnd``.
    private let past: AudioBuffer
    private let keptPastFrames: Int  // the frames that stay in `past` when it is full
    private var pastCount = 0
    private let keepsPast: Bool
    private let fadeFrames: Int  // the frames of the fade-in of the first sound
    private let fadesBlock: Bool  // the codec needs the fade-in
    private var fadedFrames = 0
    private var fadesPast = false  // the fade-in follows a gap, and is in `past` too
    private var wasWanted = true
    private var independentFrames = 0  // the frames that are still encoded independently of earlier packets

    var form: Form { configuration.form }

    package init(_ configuration: CallConfiguration) throws(CodecError) {
        self.configuration = configuration
        let channels = configuration.channelCount
        encoder = try configuration.codec.inCalls.makeEncoder(configuration)
        unitFrames = encoder.unit
        isDelayed = encoder.isDelayed
        hasFixedPackets = encoder.hasFixedPackets
        let ratio = configuration.streamRate / configuration.deviceRate
        readLimit = CaptureReader.readLimit(deviceBlock: configuration.deviceBlock)
        let resampled = Int((Double(readLimit) * ratio).rounded(.up)) + 2
        block = AudioBuffer(channelCount: channels, frameCapacity: configuration.framesPerPacket + resampled + 64)
        // A remote peer that shares this encoder later may have lower rungs, even if the first peer has none. Each peer may
        // change to another format.
        keepsPast = configuration.alternativeCodec != nil
        keptPastFrames = RateEncoder.history + resampled
        past = AudioBuffer(channelCount: channels, frameCapacity: keepsPast ? 3 * keptPastFrames : 1)
        fadeFrames = Int(0.01 * configuration.streamRate)
        // A codec with a bit rate clicks if its first frame is in the middle of a sound.
        fadesBlock = configuration.codec.traits.hasBitRate
        resamples = configuration.deviceRate != configuration.streamRate
        resampler = Resampler(
            from: configuration.deviceRate, to: configuration.streamRate, channelCount: channels, halfLength: 32,
            maximumFrameCount: resampled)
        pending.reserveCapacity(8)
    }

    /// The captured frames until the next packet is complete, at least 1; always 1 if packets have no fixed length.
    var framesUntilNextPacket: Int {
        guard hasFixedPackets else { return 1 }
        let missing = configuration.framesPerPacket - filledFrames
        return max(1, resamples ? resampler.inputNeeded(for: missing) : missing)
    }

    /// Sets the expected packet loss for Opus's own redundancy, in percent; 0 for no redundancy.
    func setExpectedLoss(percent: Int) {
        encoder.setExpectedLoss(percent: percent)
    }

    /// Encodes the next frames of the microphone.
    /// - Parameters:
    ///   - isWanted: true to make payloads; false only to keep the frames for a ``RateEncoder``.
    ///   - emit: receives each complete payload, its position on the stream's timeline, and whether a gap precedes it. The
    ///     payload is valid during the call.
    func encode(
        _ captured: CapturedBlock, isWanted: Bool = true,
        _ emit: (_ payload: UnsafeRawBufferPointer, _ position: Int, _ isAfterGap: Bool) -> Void
    ) throws(CodecError) {
        if captured.gap > 0 { try startAfterGap(of: captured.gap, emit) }
        // The codec has not had the sound before.
        if isWanted, !wasWanted {
            try encoder.reset()
            pending.removeAll(keepingCapacity: true)
            (fadedFrames, fadesPast) = (0, false)
        }
        wasWanted = isWanted
        append(captured.channels, captured.frameCount)
        if isWanted { return try encodeBlocks(emit) }
        blockPosition += filledFrames
        filledFrames = 0
        isAfterGap = true
    }

    // MARK: Captured frames

    /// The latest captured frames at the stream's rate, from ``historyStart`` to ``historyEnd``. A position's frame is at the
    /// index ``historyOffset(of:)``.
    var history: Channels { past.channels }
    var historyEnd: Int { blockPosition + pastAhead }
    var historyStart: Int { historyEnd - pastCount }
    func historyOffset(of position: Int) -> Int { pastCount - (historyEnd - position) }
    /// The position after the last frame that was encoded, or passed over because no payload was wanted.
    var encodedEnd: Int { blockPosition }
    /// The frames in `past` that are not encoded yet.
    private var pastAhead: Int { filledFrames }

    /// Counts frames that were written after the filled ones, and fades in the first of them.
    private func fill(_ count: Int) {
        if keepsPast { keep(count) }
        let faded = min(count, fadeFrames - fadedFrames)
        if faded > 0 {
            if fadesBlock { fadeIn(block.channels, from: filledFrames, count: faded) }
            // A RateEncoder primes its codec with earlier sound, so its frames have no fade, unless a gap precedes them.
            if keepsPast, fadesPast { fadeIn(past.channels, from: pastCount - count, count: faded) }
            fadedFrames += faded
        }
        filledFrames += count
    }

    /// Copies the frames after the filled ones to `past`.
    private func keep(_ count: Int) {
        if pastCount + count > past.frameCapacity {
            let kept = min(pastCount, keptPastFrames)
            for c in 0..<past.channels.count {
                moveSamples(past.channels[c], past.channels[c] + pastCount - kept, kept)
            }
            pastCount = kept
        }
        for c in 0..<past.channels.count {
            copySamples(past.channels[c] + pastCount, block.channels[c] + filledFrames, count)
        }
        pastCount += count
    }

    private func fadeIn(_ channels: Channels, from first: Int, count: Int) {
        for i in 0..<count {
            let gain = smoothStep((Float(fadedFrames + i) + 0.5) / Float(fadeFrames))
            for c in 0..<channels.count { channels[c][first + i] *= gain }
        }
    }

    private func startAfterGap(
        of frames: Int, _ emit: (UnsafeRawBufferPointer, Int, Bool) -> Void
    ) throws(CodecError) {
        let scale = configuration.streamRate / configuration.deviceRate
        let gap = Int((Double(frames) * scale).rounded())
        blockPosition += filledFrames + gap
        filledFrames = 0
        pastCount = 0
        isAfterGap = true
        // The encoder would join the sound before the gap to the sound after it, with a step. After a long gap the payload that
        // it still holds is too late to be useful.
        if let payload = try encoder.reset(), let last = pending.first, gap <= configuration.framesPerPacket {
            emit(payload, last.position, last.isAfterGap)
        }
        pending.removeAll(keepingCapacity: true)
        (fadedFrames, fadesPast) = (0, true)
        // The decoder has concealed the gap and differs from the encoder.
        beginIndependent()
    }

    /// Lets the next packets need no earlier ones: a packet that does may be far too loud for a decoder that does not have them.
    func beginIndependent() {
        encoder.setIndependent(true)
        independentFrames = RateEncoder.independentBeginning
    }

    /// Adds captured frames to the block, resampled to the stream's rate.
    private func append(_ channels: Channels, _ count: Int) {
        precondition(count <= readLimit)
        guard resamples else {
            for c in 0..<channels.count { copySamples(block.channels[c] + filledFrames, channels[c], count) }
            return fill(count)
        }
        let frames = resampler.outputAvailable(afterAdding: count)
        for c in 0..<channels.count { copySamples(resampler.input[c] + resampler.inputOffset, channels[c], count) }
        resampler.render(block.channels, frameCount: frames, offset: filledFrames, adding: count)
        fill(frames)
    }

    private func encodeBlocks(_ emit: (UnsafeRawBufferPointer, Int, Bool) -> Void) throws(CodecError) {
        let encoded = filledFrames / unitFrames * unitFrames
        for packet in encoder.packets(unitCount: filledFrames / unitFrames) {
            let position = blockPosition + packet.lowerBound * unitFrames
            if isDelayed { pending.append((position, isAfterGap)) }
            let payload = try encoder.encode(
                block.channels, offset: packet.lowerBound * unitFrames, unitCount: packet.count)
            if let payload { give(payload, at: position, emit) }
            isAfterGap = false
            if independentFrames > 0 {
                independentFrames -= packet.count * unitFrames
                if independentFrames <= 0 { encoder.setIndependent(false) }
            }
        }
        filledFrames -= encoded
        blockPosition += encoded
        for c in 0..<block.channels.count { moveSamples(block.channels[c], block.channels[c] + encoded, filledFrames) }
    }

    private func give(
        _ payload: UnsafeRawBufferPointer, at position: Int, _ emit: (UnsafeRawBufferPointer, Int, Bool) -> Void
    ) {
        guard isDelayed else { return emit(payload, position, isAfterGap) }
        let block = pending.removeFirst()
        emit(payload, block.position, block.isAfterGap)
    }
}

extension CallConfiguration {
    /// The form of the encoder for this configuration.
    package var form: StreamEncoder.Form {
        StreamEncoder.Form(
            codec: codec, streamRate: streamRate, framesPerPacket: framesPerPacket,
            bitRate: codec.traits.hasBitRate ? bitRate : 0)
    }
}
