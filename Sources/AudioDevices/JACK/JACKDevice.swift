// SPDX-License-Identifier: Apache-2.0

import CEarshotJACK
import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// A client of a running JACK server.
///
/// Its ports are `input_1`, `input_2`… and `output_1`…. It never starts a server. The due time of a cycle comes from a separate
/// delay-locked loop over the starts of callbacks. After a gap in the server's cycle times (an xrun, or cycles in which this
/// client was left out) `sampleTime` jumps by the frames of the gap.
///
/// A device may outlive its server, and later servers of the same name: its callbacks end, ``failure`` has the reason, and
/// ``stop()`` and releasing the device are safe. If the server is suspended (SIGSTOP), a method waits at most two seconds for it.
/// Then the device has failed as ``AudioDeviceError/stalled(device:seconds:)``; a new device can be opened when the server
/// continues.
package final class JACKDevice: AudioDevice {
    /// The client's actual name on the server.
    package let name: String
    /// The server's sample rate in hertz when the client was opened.
    package let sampleRate: Double
    /// The number of capture ports.
    package let inputChannelCount: Int
    /// The number of playback ports.
    package let outputChannelCount: Int
    /// Records the callbacks' times, and the server's xruns.
    package let monitor: CallbackMonitor

    let client: JACKClient
    let memory: JACKMemory
    private let wiring: JACKWiring?
    private let isRunning = Mutex(false)

    /// Opens a client and registers its ports without connections. All clients of a process must be on one server.
    /// - Parameters:
    ///   - name: the client's name, less than 64 bytes.
    ///   - serverName: the server's name; nil for `JACK_DEFAULT_SERVER`'s or the default server.
    ///   - inputChannelCount: the number of capture ports, 0 to 32.
    ///   - outputChannelCount: the number of playback ports, 0 to 32.
    /// - Throws: ``AudioDeviceError/noServer(_:server:onPipeWire:)``, ``AudioDeviceError/refused(_:status:)``,
    ///   ``AudioDeviceError/otherServer(open:asked:)``, ``AudioDeviceError/portFailed(name:)``,
    ///   ``AudioDeviceError/unsupportedFormat(detail:)``, ``AudioDeviceError/serverGone(_:reason:)``,
    ///   ``AudioDeviceError/stalled(device:seconds:)``.
    package convenience init(
        name: String, serverName: String? = nil, inputChannelCount: Int, outputChannelCount: Int
    ) throws(AudioDeviceError) {
        try self.init(
            name: name, serverName: serverName, inputChannelCount: inputChannelCount,
            outputChannelCount: outputChannelCount, monitor: nil, wiring: nil)
    }

    /// - Parameter wiring: the connections to make at each start; nil for none.
    init(
        name: String, serverName: String?, inputChannelCount: Int, outputChannelCount: Int, monitor: CallbackMonitor?,
        wiring: JACKWiring?
    ) throws(AudioDeviceError) {
        let counts = 0...AudioFormat.channelCounts.upperBound
        guard counts.contains(inputChannelCount), counts.contains(outputChannelCount) else {
            throw .unsupportedFormat(
                detail:
                    "\(inputChannelCount) inputs, \(outputChannelCount) outputs; supported: 0 to \(counts.upperBound)"
            )
        }
        let client = try JACKProcess.open(name, serverName)
        let made = try client.with(undo: { if case .success(let (_, memory)) = $0 { memory.deallocate() } }) {
            pointer -> Result<(CallbackMonitor, JACKMemory), AudioDeviceError> in
            let sampleRate = Double(jack_get_sample_rate(pointer))
            let monitor = monitor ?? CallbackMonitor(sampleRate: sampleRate)
            do throws(AudioDeviceError) {
                let memory = try JACKMemory(
                    client: pointer, sampleRate: sampleRate, recorder: monitor.recorder(sampleRate: sampleRate),
                    inputCount: inputChannelCount,
                    outputCount: outputChannelCount, wiring: wiring)
                return .success((monitor, memory))
            } catch {
                return .failure(error)
            }
        }
        do throws(AudioDeviceError) {
            guard let made else { throw .serverGone(.jack, reason: "") }
            (self.monitor, memory) = try made.get()
        } catch {
            JACKProcess.close(client)
            throw client.end.error ?? error
        }
        self.name = client.name
        self.client = client
        self.wiring = wiring
        self.inputChannelCount = inputChannelCount
        self.outputChannelCount = outputChannelCount
        sampleRate = memory.state.pointee.sampleRate
    }

    deinit {
        stop()
        let memory = memory
        JACKProcess.close(client) { memory.deallocate() }
    }

    /// The frames of the server's current block.
    package var blockFrameCount: Int { memory.state.pointee.blockFrameCount.load(ordering: .relaxed) }
    /// The latency in seconds of the longest path to an input port; one block if the server reports none.
    package var inputLatency: Double { memory.state.pointee.inputLatency / sampleRate }
    /// The latency in seconds of the longest path from an output port; one block if the server reports none.
    package var outputLatency: Double { memory.state.pointee.outputLatency / sampleRate }

    /// The SCHED_FIFO priority that the server gives to its clients' threads; nil before the first start, after the server's end,
    /// or if the server does not run in real time.
    package var realTimePriority: Int? {
        let priority = client.end.isOver ? 0 : memory.state.pointee.realTimePriority.load(ordering: .relaxed)
        return priority > 0 ? priority : nil
    }

    /// The failure after the server ended, stopped answering or changed its rate, or a connected client ended. In the last case
    /// callbacks continue with silence. nil while the device works.
    package var failure: AudioDeviceError? {
        if let error = client.end.error { return error }
        let state = memory.state
        if state.pointee.isInputGone.load(ordering: .relaxed), let name = wiring?.input {
            return .deviceGone(name: name)
        }
        if state.pointee.isOutputGone.load(ordering: .relaxed), let name = wiring?.output {
            return .deviceGone(name: name)
        }
        let rate = Double(state.pointee.newSampleRate.load(ordering: .relaxed))
        return rate == sampleRate ? nil : .sampleRateChanged(from: sampleRate, to: rate)
    }

    /// Joins the server's graph, and connects the ports if a ``JACKSystem`` opened the device with connections.
    /// - Throws: ``AudioDeviceError/alreadyRunning``, ``failure``, ``AudioDeviceError/callFailed(_:call:code:)``,
    ///   ``AudioDeviceError/deviceGone(name:)``, ``AudioDeviceError/portFailed(name:)``.
    package func start(_ callback: RenderCallback) throws(AudioDeviceError) {
        if let error = client.end.error { throw error }
        let error = isRunning.withLock { isRunning -> AudioDeviceError? in
            guard !isRunning else { return failure ?? .alreadyRunning }
            // A client that ended may be back; if it is still missing, connecting fails.
            memory.state.pointee.isInputGone.store(false, ordering: .relaxed)
            memory.state.pointee.isOutputGone.store(false, ordering: .relaxed)
            memory.state.pointee.callback = callback
            memory.state.pointee.isFirstCycle = true
            memory.state.pointee.loop.reset()
            memory.state.pointee.stall = .init()
            if let error = activate() {
                memory.closeGate()
                return error
            }
            isRunning = true
            return nil
        }
        if let error { throw error }
        guard let wiring else { return }
        do throws(AudioDeviceError) {
            try connect(wiring)
        } catch {
            stop()
            throw failure ?? error
        }
    }

    /// Activates the client; returns the error, if any. The server notifies only active clients of changes, so the rate and the
    /// block are queried first.
    private func activate() -> AudioDeviceError? {
        let (memory, sampleRate) = (memory, sampleRate)
        memory.state.pointee.gate.store(JACKState.Gate.open, ordering: .releasing)
        do throws(AudioDeviceError) {
            let code = try client.with { client -> CInt in
                let rate = Int(jack_get_sample_rate(client))
                memory.state.pointee.newSampleRate.store(rate, ordering: .relaxed)
                memory.state.pointee.blockFrameCount.store(Int(jack_get_buffer_size(client)), ordering: .relaxed)
                guard Double(rate) == sampleRate else { return -1 }
                let code = jack_activate(client)
                let priority = code == 0 ? Int(jack_client_real_time_priority(client)) : 0
                memory.state.pointee.realTimePriority.store(priority, ordering: .relaxed)
                return code
            }
            guard let code, code == 0 else {
                return failure ?? .callFailed(.jack, call: "jack_activate", code: Int(code ?? -1))
            }
            return nil
        } catch {
            return error
        }
    }

    /// Leaves the server's graph, which disconnects the ports.
    package func stop() {
        isRunning.withLock { isRunning in
            guard isRunning else { return }
            memory.closeGate()
            _ = try? client.with { jack_deactivate($0) }
            isRunning = false
        }
    }

    static func inputPortName(_ index: Int) -> String { "input_\(index + 1)" }
    static func outputPortName(_ index: Int) -> String { "output_\(index + 1)" }
}
