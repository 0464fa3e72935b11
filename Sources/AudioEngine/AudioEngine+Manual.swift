// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

extension AudioEngine {
    /// Starts rendering into memory, as fast as possible, instead of for a device (`AVAudioEngine.enableManualRenderingMode`).
    /// - Parameters:
    ///   - format: the output format; its rate is the graph's.
    ///   - inputChannelCount: the channels of the input of ``renderOffline(_:frameCount:input:)``; 0 for no input.
    ///   - maximumFrameCount: the maximum frames of a call, 1 to 8,192.
    public func enableManualRendering(
        format: AudioFormat, inputChannelCount: Int = 0, maximumFrameCount: Int = 4096
    ) throws(AudioEngineError) {
        precondition((1...IOCycle.maximumFrameCount).contains(maximumFrameCount))
        guard lifecycle.enter() else { throw .alreadyRunning }
        defer { leave() }
        try locked { state throws(AudioEngineError) in
            guard state.mode == .stopped else { throw .alreadyRunning }
            inputNode.setBlock(maximumFrameCount)
            let format = EngineFormat(
                sampleRate: format.sampleRate, inputChannelCount: inputChannelCount,
                outputChannelCount: format.channelCount)
            try state.open(format, wakeup: wakeup)
            state.mode = .manual(maximumFrameCount: maximumFrameCount)
        }
    }

    /// Renders the next frames, with all edits made before the call. For one thread at a time.
    /// - Parameters:
    ///   - output: as many channels as the format has; overwritten.
    ///   - input: the output of the input node; nil for silence. It must not share memory with `output`, which is cleared first.
    public func renderOffline(
        _ output: Channels, frameCount: Int, input: Channels? = nil
    ) throws(AudioEngineError) {
        let executor = try locked { state throws(AudioEngineError) in
            guard case .manual(let maximum) = state.mode, let executor = state.executor else { throw .notManual }
            guard frameCount <= maximum else { throw .tooManyFrames(asked: frameCount, maximum: maximum) }
            return executor
        }
        for c in 0..<(input?.count ?? 0) {
            precondition(!(0..<output.count).contains { output[$0] == input?[c] }, "input and output share memory")
        }
        serve()
        executor.renderManually(output, frameCount, input ?? Channels(output.pointers, count: 0))
        serve()
    }

    /// Starts rendering on the caller's own render thread, by the returned callback
    /// (`AVAudioEngineManualRenderingMode.realtime`), as a part of a larger callback, such as a call's.
    ///
    /// The cycle's input becomes the input node's output; edits work as with a device.
    /// - Parameters:
    ///   - format: the output format; its rate is the graph's.
    ///   - inputChannelCount: the channels of the cycle's input.
    ///   - maximumFrameCount: the maximum frames of a cycle, 1 to 8,192. Voice processing adds delay with it.
    /// - Returns: the callback, valid until ``stop()``, which must follow its last call.
    package func startRealtimeRendering(
        format: AudioFormat, inputChannelCount: Int, maximumFrameCount: Int = 4096
    ) throws(AudioEngineError) -> RenderCallback {
        precondition((1...IOCycle.maximumFrameCount).contains(maximumFrameCount))
        guard lifecycle.enter() else { throw .alreadyRunning }
        defer { leave() }
        let format = EngineFormat(
            sampleRate: format.sampleRate, inputChannelCount: inputChannelCount,
            outputChannelCount: format.channelCount)
        return try locked { state throws(AudioEngineError) in
            guard state.mode == .stopped else { throw .alreadyRunning }
            inputNode.setBlock(maximumFrameCount)
            try state.open(format, wakeup: wakeup)
            do throws(AudioEngineError) {
                try self.run(&state)
            } catch {
                state.close()
                throw error
            }
            guard let executor = state.executor else { throw .notManual }
            return executor.callback
        }
    }

    /// Passes the remaining frames to the taps. Manual rendering may continue or end afterwards.
    public func flushTaps() {
        for tap in state.withLock({ $0.graph.nodes.values.compactMap(\.tap) }) { tap.serve(all: true) }
    }
}

extension RenderExecutor {
    /// Renders one call on the current thread, with a clock that counts frames only.
    func renderManually(_ output: Channels, _ frameCount: Int, _ input: Channels) {
        let rendered = state.pointee.rendered
        for c in 0..<output.count { clearSamples(output[c], frameCount) }
        let nanoseconds = Double(rendered) / Double(state.pointee.rate) * 1e9
        var cycle = IOCycle(
            frameCount: frameCount, sampleTime: rendered, hostTime: HostTime(nanoseconds: Int64(nanoseconds)),
            inputLatency: 0, outputLatency: 0, input: input, output: output)
        callback(&cycle)
    }
}
