// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioFiles

extension AudioEngine {
    /// Compiles the graph and renders it for a device, which must not be started yet.
    ///
    /// Calls of start, pause, resume and stop wait for each other, except on the engine's own thread, where taps and completion
    /// handlers run. While another thread is in one of these calls, `start` on the engine's own thread throws, `resume` there
    /// does nothing, and the other thread carries out `pause` and `stop` after its own call.
    /// - Throws: the error of the graph, of the device or of the engine's own thread.
    public func start(on device: any AudioDevice) throws(AudioEngineError) {
        guard lifecycle.enter() else { throw .alreadyRunning }
        defer { leave() }
        let format = EngineFormat(
            sampleRate: device.sampleRate, inputChannelCount: device.inputChannelCount,
            outputChannelCount: device.outputChannelCount)
        try locked { state throws(AudioEngineError) in
            guard state.mode == .stopped else { throw .alreadyRunning }
            inputNode.setBlock(device.blockFrameCount)
            try state.open(format, wakeup: wakeup)
            state.device = device
            do throws(AudioEngineError) {
                try self.run(&state)
            } catch {
                state.close()
                throw error
            }
        }
    }

    /// Stops the device and keeps the state of the nodes for ``resume()``.
    public func pause() { halt(.pause) }

    /// Resumes after ``pause()``.
    public func resume() throws(AudioEngineError) {
        guard lifecycle.enter() else { return }
        defer { leave() }
        try locked { state throws(AudioEngineError) in
            guard state.mode == .paused, let format = state.format else { return }
            try state.prepare(format)
            try self.run(&state)
        }
    }

    /// Stops the device, or ends manual rendering. Keeps the graph and discards the state of the nodes.
    public func stop() { halt(.stop) }

    /// True while a device or the caller's own render thread renders the graph.
    public var isRunning: Bool { state.withLock { $0.mode == .running } }

    /// Returns a node's output format (`AVAudioNode.outputFormat(forBus:)`). Returns nil while the engine is stopped, if the node
    /// has no output, or if no connection leads from the node to an output node or sink.
    public func outputFormat(of node: AudioNode) -> AudioFormat? {
        state.withLock { state in
            node.numberOfOutputs > 0 ? state.rendering?.formats[node.id]?.output : nil
        }
    }

    /// True if the engine renders into memory, by ``renderOffline(_:frameCount:input:)``.
    public var isInManualRenderingMode: Bool {
        state.withLock { state in
            if case .manual = state.mode { return true }
            return false
        }
    }

    /// Returns the engine's frame counter at a host time, extrapolated from the last block; nil while the engine is stopped, and
    /// before the first block.
    public func sampleTime(at hostTime: HostTime) -> Int64? {
        state.withLock { state in
            guard let clock = state.executor?.clock, clock.frameCount > 0, let format = state.format else { return nil }
            let frames = hostTime.seconds(since: clock.hostTime) * format.sampleRate
            return clock.sampleTime + Int64(frames.rounded())
        }
    }

    /// The engine's frame counter at the start of the last block, including frames that the device skipped; 0 before the first
    /// block and while the engine is stopped.
    public var sampleTime: Int64 { state.withLock { $0.executor?.clock.sampleTime ?? 0 } }

    /// The sample rate in hertz of the device or of manual rendering; nil while stopped.
    public var sampleRate: Double? { state.withLock { $0.format?.sampleRate } }

    /// The error of the last change made while rendering, such as a unit that could not be created. The previous graph is heard
    /// until a change succeeds; then nil.
    public var failure: AudioEngineError? { state.withLock { $0.failure } }

    func run(_ state: inout EngineState) throws(AudioEngineError) {
        guard let executor = state.executor else { return }
        let thread = ServiceThread(name: "engine", wakeup: wakeup) { [weak self] in
            guard let self else { return false }
            lifecycle.work { self.serve() }
            return true
        }
        inputNode.setLive(true, priority: state.device?.realTimePriority)
        for node in state.graph.nodes.values where node.needsService { node.service() }
        do throws(AudioDeviceError) {
            try state.device?.start(executor.callback)
        } catch {
            inputNode.setLive(false, priority: nil)
            throw .device(error)
        }
        // The thread starts last, because it cannot be stopped here: stopping it means waiting for it, and it may wait for the
        // lock of `state`.
        let code = thread.start()
        guard code == 0 else {
            state.device?.stop()
            inputNode.setLive(false, priority: nil)
            throw .noThread(code: Int(code))
        }
        state.thread = thread
        state.mode = .running
    }

    private func halt(_ haltRequest: Lifecycle.HaltRequest) {
        if lifecycle.isOwnThread { lifecycle.request(haltRequest) }
        guard lifecycle.enter() else { return }
        let taps = lifecycle.isOwnThread ? [] : halted(haltRequest)
        leave()
        for tap in taps { tap.serve(all: true) }
    }

    /// Ends a call of start, pause, resume or stop, and carries out requests that the engine's own thread made during the call.
    func leave() {
        var taps: [NodeTap] = []
        lifecycle.leave { taps += halted($0) }
        for tap in taps { tap.serve(all: true) }
    }

    /// Halts the engine, under the lifecycle's lock. Returns the taps whose last frames the caller must deliver.
    private func halted(_ haltRequest: Lifecycle.HaltRequest) -> [NodeTap] {
        let (device, thread) = state.withLock { state -> ((any AudioDevice)?, ServiceThread?) in
            guard state.mode == .running else { return (nil, nil) }
            state.mode = haltRequest == .stop ? .stopped : .paused
            defer { state.thread = nil }
            return (state.device, state.thread)
        }
        device?.stop()
        thread?.stop()
        if thread != nil { inputNode.setLive(false, priority: nil) }
        return state.withLock { state in
            if thread != nil { state.executor?.settle() }
            let taps = thread == nil ? [] : state.graph.nodes.values.compactMap(\.tap)
            if haltRequest == .stop { state.close() }
            return taps
        }
    }

    /// Does one pass of the engine's own work: compiles edits, frees old programs, feeds players, calls completion handlers and
    /// taps.
    func serve() {
        let (nodes, taps) = state.withLock { state -> ([AudioNode], [NodeTap]) in
            _ = state.applyEdits()
            let nodes = state.graph.nodes.values
            return (nodes.filter(\.needsService), nodes.compactMap(\.tap))
        }
        for node in nodes { node.service() }
        for node in nodes { node.callBack() }
        for tap in taps { tap.serve() }
    }

    func locked<Result>(
        _ body: (inout EngineState) throws(AudioEngineError) -> sending Result
    ) throws(AudioEngineError) -> Result {
        try state.withLock { state throws(AudioEngineError) in try body(&state) }
    }
}

extension EngineState {
    /// Forgets the device, ends manual rendering, discards the nodes' state and keeps the graph.
    mutating func close() {
        device = nil
        mode = .stopped
        executor = nil
        format = nil
        forget()
    }

    /// Creates an executor for a format and compiles the graph for it.
    mutating func open(_ format: EngineFormat, wakeup: Wakeup) throws(AudioEngineError) {
        forget()
        executor = RenderExecutor(rate: Int64(format.sampleRate.rounded()), wakeup: wakeup.handle)
        do throws(AudioEngineError) {
            try prepare(format)
        } catch {
            executor = nil
            self.format = nil
            throw error
        }
    }
}
