// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

extension AudioEngine {
    /// Renders into memory from now on, as fast as the machine can, instead of for a device
    /// (`AVAudioEngine.enableManualRenderingMode`).
    /// - Parameters:
    ///   - format: of the output; its rate is the graph's.
    ///   - inputChannelCount: of what ``renderOffline(_:frameCount:input:)`` is given; 0 if it is given nothing.
    ///   - maximumFrameCount: 1 to 8,192; what one call may ask for.
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

    /// Renders the next frames. One thread at a time; edits made before the call are in it.
    /// - Parameters:
    ///   - output: as many channels as the format has; overwritten.
    ///   - input: what the input node gives; nil for silence. Not the output's memory, which is cleared first.
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

    /// Renders when the caller's own render thread calls the returned callback (`AVAudioEngineManualRenderingMode.realtime`): a
    /// part of a larger callback, such as the voice in a call.
    ///
    /// The cycle's input becomes the input node's output; edits work as with a device.
    /// - Parameters:
    ///   - format: of the output; its rate is the graph's.
    ///   - inputChannelCount: of the cycle's input.
    ///   - maximumFrameCount: 1 to 8,192; frames that a cycle will have at most. Voice processing is the later the more they are.
    /// - Returns: valid until ``stop()``, which must come after its last call.
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

    /// Hands taps what is left over. Manual rendering goes on or ends after it as it likes.
    public func flushTaps() {
        for tap in state.withLock({ $0.graph.nodes.values.compactMap(\.tap) }) { tap.serve(all: true) }
    }
}

extension RenderExecutor {
    /// One call on the present thread, on a clock of frames alone.
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
