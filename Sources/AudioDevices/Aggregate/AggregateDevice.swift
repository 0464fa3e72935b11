// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// An input and an output of two devices as one device, like Core Audio's aggregate device. The output is the clock and runs the
/// client's callback; the input follows at a constant delay, resampled to the output's rate without drift.
///
/// Input is silent until both clocks are known, and while the input device does not call. After an xrun or a stall of either
/// device the delay is restored within a second; frames dropped or inserted are counted.
package final class AggregateDevice: AudioDevice {
    /// The device of the client's inputs.
    package let input: any AudioDevice
    /// The device of the client's outputs and cycles.
    package let output: any AudioDevice
    private let core: AggregateCore
    private let filterLatency: Double
    private let isRunning = Atomic<Bool>(false)

    /// Creates a device from an input and an output, which only the new device may start.
    /// - Throws: ``AudioDeviceError/unsupportedFormat(detail:)`` if the input has no inputs or the output no outputs.
    package init(input: any AudioDevice, output: any AudioDevice) throws(AudioDeviceError) {
        guard input.inputChannelCount > 0 else { throw .unsupportedFormat(detail: "\(input.name) has no input") }
        guard output.outputChannelCount > 0 else { throw .unsupportedFormat(detail: "\(output.name) has no output") }
        self.input = input
        self.output = output
        core = AggregateCore(
            inputRate: input.sampleRate, outputRate: output.sampleRate, channelCount: input.inputChannelCount,
            inputLatency: input.inputLatency,
            longestOutput: output.outputLatency + Double(output.blockFrameCount) / output.sampleRate)
        // The estimated latency of the ring and the resampling filter, used before the first cycle.
        filterLatency =
            Double(output.blockFrameCount) / output.sampleRate + 18 / input.sampleRate + AggregateOutput.firstMargin
    }

    deinit { stop() }

    /// The names of both devices.
    package var name: String { "\(input.name) and \(output.name)" }
    /// The output's rate in hertz.
    package var sampleRate: Double { output.sampleRate }
    /// The frames of the output's block.
    package var blockFrameCount: Int { output.blockFrameCount }
    /// The number of the input's channels.
    package var inputChannelCount: Int { input.inputChannelCount }
    /// The number of the output's channels.
    package var outputChannelCount: Int { output.outputChannelCount }
    /// The input's latency in seconds, plus the time that sound waits between both devices: about a block of each, and 2 ms or
    /// more for jitter.
    package var inputLatency: Double {
        let delay = core.delay
        return delay > 0 ? delay - output.outputLatency : input.inputLatency + filterLatency
    }
    /// The output's latency in seconds.
    package var outputLatency: Double { output.outputLatency }
    /// The priority of the output's thread.
    package var realTimePriority: Int? { output.realTimePriority }
    /// The output's sample type.
    package var sampleType: SampleType { output.sampleType }
    /// The output's monitor, which measures the client's work. The input has another monitor.
    package var monitor: CallbackMonitor { output.monitor }
    /// The output's failure, or else the input's.
    package var failure: AudioDeviceError? { output.failure ?? input.failure }

    /// True while the client gets the input's sound rather than silence. Any thread.
    package var isLocked: Bool { isRunning.load(ordering: .acquiring) && core.isLocked }
    /// The input frames dropped to restore the delay. Any thread.
    package var droppedFrameCount: Int { core.droppedFrameCount }
    /// The frames in which silence replaced the input, after the input was first heard. Any thread.
    package var insertedFrameCount: Int { core.insertedFrameCount }

    /// Starts both devices.
    /// - Throws: ``AudioDeviceError/alreadyRunning``; the error of either device, after which neither device runs.
    package func start(_ callback: RenderCallback) throws(AudioDeviceError) {
        guard !isRunning.exchange(true, ordering: .acquiringAndReleasing) else { throw .alreadyRunning }
        core.prepare(callback)
        do throws(AudioDeviceError) {
            try input.start(core.captureCallback)
            try output.start(core.renderCallback)
        } catch {
            stop()
            throw error
        }
    }

    /// Stops both devices.
    package func stop() {
        output.stop()
        input.stop()
        isRunning.store(false, ordering: .releasing)
    }
}
