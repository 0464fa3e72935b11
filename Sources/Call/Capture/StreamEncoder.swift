// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioDSP
import EarshotMediaTransport

/// Encodes captured frames: resampling to the stream's rate, division into blocks, codec. On the media thread, once for all
/// remote peers with the same ``Form``.
package final class StreamEncoder {
    /// The properties of payloads that remote peers can share.
    package struct Form: Hashable {
        let codec: Codec
        let streamRate: Double
        let framesPerPacket: Int
        let bitRate: Int
    }

    private let configuration: CallConfiguration
    let encoder: any PayloadEncoder
    private let unit: Int
    private let isDelayed: Bool
    private let hasFixedPackets: Bool
    private let resamples: Bool
    private let readLimit: Int
    private var resampler: Resampler
    private let block: AudioBuffer  // at the stream's rate; `filled` frames wait for the block to be full
    private var filled = 0
    private var filledPosition = 0  // of the block's first frame, on the stream's timeline
    /// The blocks in the encoder whose payload has not come yet.
    private var pending: [(position: Int, isAfterGap: Bool)] = []
    private var isAfterGap = true
    /// The latest captured frames, for a ``RateEncoder``: `pastCount` frames up to ``historyEnd``.
    private let past: AudioBuffer
    private let pastKept: Int
    private var pastCount = 0
    private let keepsPast: Bool
    private var staleCount = 0  // the first so many of `pending` are not sent

    var form: Form { configuration.form }

    package init(_ configuration: CallConfiguration) throws(CodecError) {
        self.configuration = configuration
        let channels = configuration.channelCount
        encoder = try configuration.codec.inCalls.makeEncoder(configuration)
        unit = encoder.unit
        isDelayed = encoder.isDelayed
        hasFixedPackets = encoder.hasFixedPackets
        let ratio = configuration.streamRate / configuration.deviceRate
        readLimit = CaptureReader.readLimit(deviceBlock: configuration.deviceBlock)
        let resampled = Int((Double(readLimit) * ratio).rounded(.up)) + 2
        block = AudioBuffer(channelCount: channels, frameCapacity: configuration.framesPerPacket + resampled + 64)
        // Another peer that shares this encoder may have a ladder, even if the first one has none.
        keepsPast = configuration.mayChangeRate
        pastKept = RateEncoder.history + resampled
        past = AudioBuffer(channelCount: channels, frameCapacity: keepsPast ? 3 * pastKept : 1)
        resamples = configuration.deviceRate != configuration.streamRate
        resampler = Resampler(
            from: configuration.deviceRate, to: configuration.streamRate, channelCount: channels, halfLength: 32,
            maximumFrameCount: resampled)
        pending.reserveCapacity(8)
    }

    /// The frames of the microphone until the next packet is complete, at least 1.
    var framesUntilNextPacket: Int {
        guard hasFixedPackets else { return 1 }
        let missing = configuration.framesPerPacket - filled
        return max(1, resamples ? resampler.inputNeeded(for: missing) : missing)
    }

    /// Sets the expected loss for Opus's own redundancy, in percent; 0 for no redundancy.
    func setExpectedLoss(percent: Int) {
        encoder.setExpectedLoss(percent: percent)
    }

    /// Encodes the next frames of the microphone.
    /// - Parameters:
    ///   - isWanted: true to make payloads; false only to keep the frames.
    ///   - emit: receives each complete payload, its position on the stream's timeline, and whether a gap precedes it; valid
    ///     during the call.
    func encode(
        _ captured: CapturedBlock, isWanted: Bool = true,
        _ emit: (_ payload: UnsafeRawBufferPointer, _ position: Int, _ isAfterGap: Bool) -> Void
    ) throws(CodecError) {
        if captured.gap > 0 { startAfterGap(of: captured.gap) }
        append(captured.channels, captured.frameCount)
        if isWanted { return try encodeBlocks(emit) }
        filledPosition += filled
        filled = 0
        isAfterGap = true
    }

    // MARK: Captured frames

    /// The stream's frames from ``historyStart`` to ``historyEnd``, at ``historyOffset(of:)``.
    var history: Channels { past.channels }
    var historyEnd: Int { filledPosition + pastAhead }
    var historyStart: Int { historyEnd - pastCount }
    func historyOffset(of position: Int) -> Int { pastCount - (historyEnd - position) }
    /// The position up to which payloads were made.
    var encodedEnd: Int { filledPosition }
    /// The frames of `past` that are not encoded yet.
    private var pastAhead: Int { filled }

    private func keep(_ count: Int) {
        guard keepsPast else { return }
        if pastCount + count > past.frameCapacity {
            let kept = min(pastCount, pastKept)
            for c in 0..<past.channels.count {
                moveSamples(past.channels[c], past.channels[c] + pastCount - kept, kept)
            }
            pastCount = kept
        }
        for c in 0..<past.channels.count {
            copySamples(past.channels[c] + pastCount, block.channels[c] + filled - count, count)
        }
        pastCount += count
    }

    private func startAfterGap(of frames: Int) {
        let scale = configuration.streamRate / configuration.deviceRate
        let gap = Int((Double(frames) * scale).rounded())
        filledPosition += filled + gap
        filled = 0
        pastCount = 0
        isAfterGap = true
        // The encoder's earlier frames would come out now, late by the gap.
        if gap > configuration.framesPerPacket { staleCount = pending.count }
    }

    /// Adds frames to the block, at the stream's rate.
    private func append(_ channels: Channels, _ count: Int) {
        precondition(count <= readLimit)
        guard resamples else {
            for c in 0..<channels.count { copySamples(block.channels[c] + filled, channels[c], count) }
            filled += count
            return keep(count)
        }
        let frames = resampler.outputAvailable(afterAdding: count)
        for c in 0..<channels.count { copySamples(resampler.input[c] + resampler.inputOffset, channels[c], count) }
        resampler.render(block.channels, frameCount: frames, offset: filled, adding: count)
        filled += frames
        keep(frames)
    }

    private func encodeBlocks(_ emit: (UnsafeRawBufferPointer, Int, Bool) -> Void) throws(CodecError) {
        let done = filled / unit * unit
        for packet in encoder.packets(unitCount: filled / unit) {
            let position = filledPosition + packet.lowerBound * unit
            if isDelayed { pending.append((position, isAfterGap)) }
            let payload = try encoder.encode(
                block.channels, offset: packet.lowerBound * unit, unitCount: packet.count)
            if let payload { give(payload, at: position, emit) }
            isAfterGap = false
        }
        filled -= done
        filledPosition += done
        for c in 0..<block.channels.count { moveSamples(block.channels[c], block.channels[c] + done, filled) }
    }

    private func give(
        _ payload: UnsafeRawBufferPointer, at position: Int, _ emit: (UnsafeRawBufferPointer, Int, Bool) -> Void
    ) {
        guard isDelayed else { return emit(payload, position, isAfterGap) }
        let block = pending.removeFirst()
        if staleCount > 0 { staleCount -= 1 } else { emit(payload, block.position, block.isAfterGap) }
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
