// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

extension AudioEngine {
    /// Starts rendering into memory, as fast as possible, instead of for a device (`AVAudioEngine.enableManualRenderingMode`).
    /// - Parameters:
    ///   - format: the output format; its sample rate is also the engine's.
    ///   - inputChannelCount: the number of channels of `input` in ``renderOffline(_:frameCount:input:)``; 0 for no input.
    ///   - maximumFrameCount: the maximum frames of one call of ``renderOffline(_:frameCount:input:)``, 1 to 8,192.
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

    /// Renders the next frames, with the edits made before the call; an edit waits while the previous edit fades. For one thread
    /// at a time.
    /// - Parameters:
    ///   - output: as many channels as the format has; overwritten.
    ///   - input: the samples that the input node outputs; nil for silence. They must not share memory with `output`, which is
    ///     cleared first.
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
    /// The cycle's input becomes the input node's output; edits take effect as with a device.
    /// - Parameters:
    ///   - format: the output format; its sample rate is also the engine's.
    ///   - inputChannelCount: the number of channels of the cycle's input.
    ///   - maximumFrameCount: the maximum frames of a cycle, 1 to 8,192. A greater maximum may add delay to voice processing.
    /// - Returns: the callback, valid until ``stop()``. Its last call must return before ``stop()`` is called.
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

    /// Passes the frames that the taps still hold to their blocks. Manual rendering may continue or end afterwards.
    public func flushTaps() {
        for tap in state.withLock({ $0.graph.nodes.values.compactMap(\.tap) }) { tap.serve(all: true) }
    }
}

extension RenderExecutor {
    /// Renders `frameCount` frames on the current thread. The host time is computed from the frames rendered before.
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
