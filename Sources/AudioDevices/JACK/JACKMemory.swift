// SPDX-License-Identifier: Apache-2.0

import CEarshotJACK
import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// The state shared by the control thread and libjack's threads, in memory that does not move: the process thread must not retain
/// a class.
struct JACKState: ~Copyable {
    let sampleRate: Double
    let recorder: CallbackMonitor.Recorder
    let inputPorts: UnsafeMutablePointer<OpaquePointer>
    let outputPorts: UnsafeMutablePointer<OpaquePointer>
    let inputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    let outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    let inputCount: Int
    let outputCount: Int
    let client: OpaquePointer

    let blockFrameCount: Atomic<Int>
    let newSampleRate: Atomic<Int>
    let inputLatencyFrames = Atomic<Int>(0)
    let outputLatencyFrames = Atomic<Int>(0)
    let inputTarget: UnsafeMutablePointer<CChar>?  // the name of the client that is captured
    let outputTarget: UnsafeMutablePointer<CChar>?  // the name of the client that is played to
    let isInputGone = Atomic<Bool>(false)
    let isOutputGone = Atomic<Bool>(false)

    let realTimePriority = Atomic<Int>(0)  // SCHED_FIFO; 0 for none, or if not known yet
    /// The gate of callbacks, a value of ``Gate``. It is needed because an abandoned client may remain active.
    let gate = Atomic<Int>(Gate.closed)

    enum Gate {
        static var closed: Int { @_noLocks get { 0 } }
        static var open: Int { @_noLocks get { 1 } }
        static var busy: Int { @_noLocks get { 2 } }
    }

    // The variables below belong to the control thread until the client is activated, and then to the process thread.
    var callback: RenderCallback?
    var isFirstCycle = true
    var sampleTime: Int64 = 0
    var loop: DelayLockedLoop
    var frames: UInt32 = 0  // the length of the previous cycle
    var nextFrame: UInt32 = 0  // the server's frame counter at which the next cycle should begin
    var nextTime: UInt64 = 0  // the server's time in microseconds at which the next cycle should begin
    var stall = Stall()

    /// The lag of callbacks behind their frames, by the machine's clock.
    struct Stall: BitwiseCopyable {
        /// The machine's clock minus the time of the frames, in nanoseconds: the minimum, which rises by a thousandth of the
        /// elapsed time.
        var offset: Int64 = 0
        var lateCount = 0
        /// The minimum lag in nanoseconds of the successive late callbacks.
        var least: Int64 = 0
        var since = HostTime(nanoseconds: 0)
    }

    /// The longest latency of the input ports in frames; one block if the server reports none.
    var inputLatency: Double { @_noLocks get { latency(inputLatencyFrames.load(ordering: .relaxed)) } }
    var outputLatency: Double { @_noLocks get { latency(outputLatencyFrames.load(ordering: .relaxed)) } }

    @_noLocks
    private func latency(_ frames: Int) -> Double {
        Double(frames > 0 ? frames : blockFrameCount.load(ordering: .relaxed))
    }
}

/// The pointer by which a ``JACKDevice`` owns its ``JACKState``.
struct JACKMemory: @unchecked Sendable {  // each field's thread is named at the field
    let state: UnsafeMutablePointer<JACKState>

    /// Registers a client's ports and callbacks with libjack. The client must be closed by the caller, also after an error.
    init(
        client: OpaquePointer, sampleRate: Double, recorder: CallbackMonitor.Recorder, inputCount: Int,
        outputCount: Int,
        wiring: JACKWiring?
    ) throws(AudioDeviceError) {
        func register(_ name: String, _ direction: JackPortFlags) throws(AudioDeviceError) -> OpaquePointer {
            let flags = UInt(direction.rawValue)
            guard let port = jack_port_register(client, name, JACK_DEFAULT_AUDIO_TYPE, flags, 0) else {
                throw .portFailed(name: name)
            }
            return port
        }
        var inputPorts: [OpaquePointer] = []
        var outputPorts: [OpaquePointer] = []
        for i in 0..<inputCount { inputPorts.append(try register(JACKDevice.inputPortName(i), JackPortIsInput)) }
        for i in 0..<outputCount { outputPorts.append(try register(JACKDevice.outputPortName(i), JackPortIsOutput)) }
        let state = UnsafeMutablePointer<JACKState>.allocate(capacity: 1)
        state.initialize(
            to: JACKState(
                sampleRate: sampleRate, recorder: recorder, inputPorts: Self.copy(inputPorts),
                outputPorts: Self.copy(outputPorts), inputs: .allocate(capacity: max(1, inputCount)),
                outputs: .allocate(capacity: max(1, outputCount)), inputCount: inputCount, outputCount: outputCount,
                client: client, blockFrameCount: Atomic(Int(jack_get_buffer_size(client))),
                newSampleRate: Atomic(Int(sampleRate)), inputTarget: wiring?.input.flatMap { strdup($0) },
                outputTarget: wiring?.output.flatMap { strdup($0) }, loop: DelayLockedLoop(sampleRate: sampleRate)))
        jack_set_process_callback(client, jackProcess, state)
        jack_set_xrun_callback(client, jackXRun, state)
        jack_set_buffer_size_callback(client, jackBufferSize, state)
        jack_set_sample_rate_callback(client, jackSampleRate, state)
        jack_set_latency_callback(client, jackLatency, state)
        jack_set_client_registration_callback(client, jackClientRegistration, state)
        self.state = state
    }

    /// Closes the gate, and waits for a running callback. When this method returns, no callback runs, and none will come until
    /// the gate is opened again.
    func closeGate() {
        while true {
            let (isClosed, gate) = state.pointee.gate.compareExchange(
                expected: JACKState.Gate.open, desired: JACKState.Gate.closed, ordering: .acquiringAndReleasing)
            if isClosed || gate == JACKState.Gate.closed { return }
            earshot_sleep_until_ns(earshot_monotonic_ns() + 100_000)
        }
    }

    /// Frees the memory. Call it after the client was closed.
    func deallocate() {
        state.pointee.inputPorts.deallocate()
        state.pointee.outputPorts.deallocate()
        state.pointee.inputs.deallocate()
        state.pointee.outputs.deallocate()
        free(state.pointee.inputTarget)
        free(state.pointee.outputTarget)
        state.deinitialize(count: 1)
        state.deallocate()
    }

    private static func copy(_ ports: [OpaquePointer]) -> UnsafeMutablePointer<OpaquePointer> {
        let memory = UnsafeMutablePointer<OpaquePointer>.allocate(capacity: max(1, ports.count))
        for (i, port) in ports.enumerated() { (memory + i).initialize(to: port) }
        return memory
    }
}
