// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// The work of an ``AggregateDevice`` in its two devices' callbacks. The core has memory but neither threads nor a clock, so that
/// it also runs on virtual time.
final class AggregateCore: @unchecked Sendable {  // each side's state is used by one device's thread
    private let ring: AudioRing
    private let mapping = LatestValue(AggregateInput.Mapping())
    private let buffer: AudioBuffer
    private let input: UnsafeMutablePointer<AggregateInput>
    private let output: UnsafeMutablePointer<AggregateOutput>

    /// - Parameters:
    ///   - inputLatency: the input device's latency in seconds.
    ///   - longestOutput: the seconds from an output cycle's start until its last frame is played.
    init(inputRate: Double, outputRate: Double, channelCount: Int, inputLatency: Double, longestOutput: Double) {
        ring = AudioRing(channelCount: channelCount, capacity: Int(inputRate))
        buffer = AudioBuffer(channelCount: channelCount, frameCapacity: IOCycle.maximumFrameCount)
        input = .allocate(capacity: 1)
        input.initialize(
            to: AggregateInput(
                ring: ring.writer, mapping: mapping.writer, sampleRate: inputRate, latency: inputLatency))
        output = .allocate(capacity: 1)
        output.initialize(
            to: AggregateOutput(
                ring: ring.reader, mapping: mapping.reader, input: buffer.channels, inputRate: inputRate,
                outputRate: outputRate, longestOutput: longestOutput))
    }

    deinit {
        input.deinitialize(count: 1)
        input.deallocate()
        output.deinitialize(count: 1)
        output.deallocate()
    }

    /// The callback of the input device.
    var captureCallback: RenderCallback { RenderCallback(context: input, function: aggregateCapture) }
    /// The callback of the output device, which runs the client's callback.
    var renderCallback: RenderCallback { RenderCallback(context: output, function: aggregateRender) }

    /// Forgets both devices' clocks and sets the client's callback. Call it while neither device runs.
    func prepare(_ client: RenderCallback) {
        input.pointee.reset()
        output.pointee.reset()
        output.pointee.client = client
    }

    /// The seconds that sound takes from the input converter to the output converter; 0 before the first input. Any thread.
    var delay: Double { Double(output.pointee.shared.pointee.delay.load(ordering: .relaxed)) * 1e-9 }
    /// True while the client gets the input's sound rather than silence. Any thread.
    var isLocked: Bool { output.pointee.shared.pointee.isLocked.load(ordering: .relaxed) }
    /// The input frames dropped to restore the delay. Any thread.
    var droppedFrameCount: Int { output.pointee.shared.pointee.dropped.load(ordering: .relaxed) }
    /// The frames in which silence replaced the input, after the input was first heard. Any thread.
    var insertedFrameCount: Int { output.pointee.shared.pointee.inserted.load(ordering: .relaxed) }
    /// The number of cycles with too little input. Any thread.
    var underrunCount: Int { output.pointee.shared.pointee.underruns.load(ordering: .relaxed) }
}
