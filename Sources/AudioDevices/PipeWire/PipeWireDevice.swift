// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire
import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// A filter in a PipeWire server's graph with its links to a source and a sink.
///
/// Its ports are `input_1`, `input_2`… and `output_1`…. Its quantum is the graph's and may change from call to call: the block
/// asked for is a wish (`node.latency`), of which the server takes the smallest of all clients', rounded down to a power of two
/// unless `clock.power-of-two-quantum` is off. After cycles that it missed `sampleTime` jumps by their frames, and each such gap is
/// one xrun; if the call before took longer than its frames last (``CallbackMonitor/overBudgetCount``) it is this program's own,
/// else the graph's.
package final class PipeWireDevice: AudioDevice {
    /// The names of the linked nodes, the input's first if they differ.
    package let name: String
    /// The graph's rate when the device was opened.
    package let sampleRate: Double
    /// 0 if the input was left out.
    package let inputChannelCount: Int
    /// 0 if the output was left out.
    package let outputChannelCount: Int
    /// Each call's time, and the gaps.
    package let monitor: CallbackMonitor

    let client: PipeWireClient
    private let isRunning = Mutex(false)

    /// Wraps an open client.
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

    /// The graph's present quantum.
    package var blockFrameCount: Int { client.memory.state.pointee.frameCount.load(ordering: .relaxed) }
    /// The latency of the longest path to an input port; one quantum if the server says nothing.
    package var inputLatency: Double {
        client.memory.state.pointee.inputLatency.seconds(frameCount: blockFrameCount, sampleRate: sampleRate)
    }
    /// The latency of the longest path from an output port; one quantum if the server says nothing.
    package var outputLatency: Double {
        client.memory.state.pointee.outputLatency.seconds(frameCount: blockFrameCount, sampleRate: sampleRate)
    }

    /// The data thread's priority by the scheduler, also before the start.
    package var realTimePriority: Int? {
        let thread = client.memory.state.pointee.thread.load(ordering: .relaxed)
        let priority = thread > 0 ? Int(earshot_thread_priority(CInt(thread))) : 0
        return priority > 0 ? priority : nil
    }

    /// The failure after a device or the server disappeared, a link to a device failed, or the graph changed its rate.
    ///
    /// A changed rate is told after 100 ms: if a device went, its driver did too, and the next one may run at another rate before
    /// the server has told of the removal.
    package var failure: AudioDeviceError? {
        if let failure = client.failure { return failure }
        let since = client.memory.state.pointee.otherRateSince.load(ordering: .relaxed)
        return since != 0 && HostTime.now().nanoseconds - since > 100_000_000 ? sampleRateChange : nil
    }

    private var sampleRateChange: AudioDeviceError? {
        let rate = Double(client.memory.state.pointee.graphRate.load(ordering: .relaxed))
        return rate == sampleRate ? nil : .sampleRateChanged(from: sampleRate, to: rate)
    }

    /// The first time at once; after ``stop()`` it joins the graph again, as ``PipeWireSystem/open(_:)`` did.
    /// - Throws: ``AudioDeviceError/alreadyRunning``, what ``failure`` says, and what `open` throws.
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
