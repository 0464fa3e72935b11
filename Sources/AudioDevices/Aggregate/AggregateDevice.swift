// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// An input and an output of two devices as one, Core Audio's aggregate device: the output is the clock and calls the client; the
/// input follows at a constant delay, resampled to the output's rate without drift.
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

    /// Neither device may be started by another owner.
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
        // An estimate before the first cycle: the ring's part and the filter's.
        filterLatency =
            Double(output.blockFrameCount) / output.sampleRate + 18 / input.sampleRate + AggregateOutput.firstMargin
    }

    deinit { stop() }

    /// The names of both devices.
    package var name: String { "\(input.name) and \(output.name)" }
    /// The output's rate in hertz.
    package var sampleRate: Double { output.sampleRate }
    /// The output's block.
    package var blockFrameCount: Int { output.blockFrameCount }
    /// The input's channels.
    package var inputChannelCount: Int { input.inputChannelCount }
    /// The output's channels.
    package var outputChannelCount: Int { output.outputChannelCount }
    /// The input's latency in seconds, plus what waits between both devices: about a block of each, and 2 ms for jitter.
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

    /// Returns true if input is heard. Any thread.
    package var isLocked: Bool { isRunning.load(ordering: .acquiring) && core.isLocked }
    /// The input frames dropped to restore the delay. Any thread.
    package var droppedFrameCount: Int { core.droppedFrameCount }
    /// The frames of silence instead of input, since it was first heard. Any thread.
    package var insertedFrameCount: Int { core.insertedFrameCount }

    /// Starts both devices.
    /// - Throws: the error of either; then neither runs.
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
