// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire
import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// A filter in a PipeWire server's graph with its links to a source and a sink.
///
/// Its ports are `input_1`, `input_2`… and `output_1`…. Its block is the graph's quantum and may change from cycle to cycle. The
/// device requests a block by `node.latency`; the server uses the smallest that a client requests, rounded down to a power of two
/// unless `clock.power-of-two-quantum` is off. After missed cycles `sampleTime` jumps by their frames, and each such gap is one
/// xrun. If the previous callback took longer than its frames last (``CallbackMonitor/overBudgetCount``), this program caused the
/// xrun; otherwise the graph did.
package final class PipeWireDevice: AudioDevice {
    /// The names of the linked nodes, the input's first if they differ.
    package let name: String
    /// The graph's sample rate in hertz when the device was opened.
    package let sampleRate: Double
    /// The number of input channels; 0 if the input was left out.
    package let inputChannelCount: Int
    /// The number of output channels; 0 if the output was left out.
    package let outputChannelCount: Int
    /// Records the callbacks' times, and each gap of missed cycles as an xrun.
    package let monitor: CallbackMonitor

    let client: PipeWireClient
    private let isRunning = Mutex(false)

    /// Creates the device of a client that is open.
    init(_ client: PipeWireClient) {
        let state = client.memory.state
        let sampleRate = Double(state.pointee.graphRate.load(ordering: .relaxed))
        let monitor = client.request.monitor ?? CallbackMonitor(sampleRate: sampleRate)
        state.pointee.sampleRate = sampleRate
        state.pointee.loop = DelayLockedLoop(sampleRate: sampleRate)
        state.pointee.recorder = monitor.recorder(sampleRate: sampleRate)
        name = client.name
        inputChannelCount = state.pointee.inputCount
        outputChannelCount = state.pointee.outputCount
        self.sampleRate = sampleRate
        self.monitor = monitor
        self.client = client
    }

    deinit {
        stop()
        let client = client
        client.hub.loop.locked { client.close() }
    }

    /// The graph's current quantum in frames.
    package var blockFrameCount: Int { client.memory.state.pointee.frameCount.load(ordering: .relaxed) }
    /// The latency in seconds of the longest path to an input port; one quantum if the server reports none.
    package var inputLatency: Double {
        client.memory.state.pointee.inputLatency.seconds(frameCount: blockFrameCount, sampleRate: sampleRate)
    }
    /// The latency in seconds of the longest path from an output port; one quantum if the server reports none.
    package var outputLatency: Double {
        client.memory.state.pointee.outputLatency.seconds(frameCount: blockFrameCount, sampleRate: sampleRate)
    }

    /// The data thread's SCHED_FIFO priority as the scheduler reports it, also before the start; nil for normal scheduling.
    package var realTimePriority: Int? {
        let thread = client.memory.state.pointee.thread.load(ordering: .relaxed)
        let priority = thread > 0 ? Int(earshot_thread_priority(CInt(thread))) : 0
        return priority > 0 ? priority : nil
    }

    /// The failure after a device or the server disappeared, a link to a device failed, or the graph changed its rate.
    ///
    /// A changed rate is reported after 100 ms: when a device is removed, its driver is removed too, and the next driver may run
    /// at another rate before the server reports the removal.
    package var failure: AudioDeviceError? {
        if let failure = client.failure { return failure }
        let since = client.memory.state.pointee.otherRateSince.load(ordering: .relaxed)
        return since != 0 && HostTime.now().nanoseconds - since > 100_000_000 ? sampleRateChange : nil
    }

    private var sampleRateChange: AudioDeviceError? {
        let rate = Double(client.memory.state.pointee.graphRate.load(ordering: .relaxed))
        return rate == sampleRate ? nil : .sampleRateChanged(from: sampleRate, to: rate)
    }

    /// Starts the callbacks. After ``stop()`` the device first joins the graph again, as in ``PipeWireSystem/open(_:)``.
    /// - Throws: ``AudioDeviceError/alreadyRunning``, ``failure``, and the errors of `open`.
    package func start(_ callback: RenderCallback) throws(AudioDeviceError) {
        if let failure { throw failure }
        let (client, sampleRate) = (client, sampleRate)
        let error = isRunning.withLock { isRunning -> AudioDeviceError? in
            guard !isRunning else { return .alreadyRunning }
            do throws(AudioDeviceError) {
                try client.hub.loop.locked { () throws(AudioDeviceError) in
                    if !client.hasFilter { try client.open(rate: sampleRate) }
                }
            } catch {
                return error
            }
            let state = client.memory.state
            state.pointee.callback = callback
            state.pointee.isFirstCycle = true
            state.pointee.loop.reset()
            state.pointee.gate.store(PipeWireState.Gate.open, ordering: .releasing)
            isRunning = true
            return nil
        }
        if let error { throw error }
        if let failure = failure ?? sampleRateChange {
            stop()
            throw failure
        }
    }

    /// Leaves the graph and releases the devices.
    package func stop() {
        let client = client
        isRunning.withLock { isRunning in
            client.memory.closeGate()
            client.hub.loop.locked { client.removeFilter() }
            isRunning = false
        }
    }
}
