// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Calls a caller's block. Only here and in ``SinkState`` does the render thread call code that the compiler has not checked for
/// locks and allocations; the build with RealtimeSanitizer checks that code too.
struct CallbackState: ~Copyable {
    private let block: AudioSourceRenderBlock
    private let sampleRate: Double
    private let faults: Counters.Handle  // frames missing, samples invalid, calls late

    init(_ block: @escaping AudioSourceRenderBlock, sampleRate: Double, faults: Counters.Handle) {
        self.faults = faults
        self.block = block
        self.sampleRate = sampleRate
    }

    /// Creates the render state of a node with a block. For the control thread.
    static func memory(_ block: @escaping AudioSourceRenderBlock, _ formats: NodeFormats, _ counters: Counters)
        -> RenderState
    {
        RenderMemory(
            CallbackState(block, sampleRate: formats.sampleRate, faults: counters.handle), keeping: [counters],
            function: function)
    }

    /// Returns a source block that applies an effect block to all frames in place.
    static func filling(_ block: @escaping AudioEffectRenderBlock) -> AudioSourceRenderBlock {
        { time, count, samples in
            block(time, count, samples)
            return count
        }
    }

    static var function: RenderFunction {
        { state, call in
            state.assumingMemoryBound(to: CallbackState.self).pointee.process(
                call.assumingMemoryBound(to: RenderCall.self).pointee)
        }
    }

    func process(_ call: RenderCall) {  // not @_noLocks: it calls a closure
        guard call.frameCount > 0 else { return }
        let bus = call.outputs[0]
        if call.inputCount > 0 { bus.copy(call.inputs[0], call.frameCount) } else { bus.silence(call.frameCount) }
        let start = HostTime.now()
        let filled = block(call.sampleTime, call.frameCount, bus.channels)
        if HostTime.now().seconds(since: start) > Double(call.frameCount) / sampleRate { faults.add(1, to: 2) }
        if filled < call.frameCount {
            let from = max(0, filled)
            for c in 0..<bus.channels.count { clearSamples(bus.channels[c] + from, call.frameCount &- from) }
            faults.add(call.frameCount &- from, to: 0)
        }
        faults.add(scrub(bus.channels, call.frameCount), to: 1)
        bus.isSilent = soundStart(bus.channels, call.frameCount) == call.frameCount
    }
}

/// Passes input to a caller's block.
struct SinkState: ~Copyable {
    let block: AudioSinkReceiverBlock

    static var function: RenderFunction {
        { state, call in
            state.assumingMemoryBound(to: SinkState.self).pointee.process(
                call.assumingMemoryBound(to: RenderCall.self).pointee)
        }
    }

    func process(_ call: RenderCall) {  // not @_noLocks: it calls a closure
        guard call.frameCount > 0, call.inputCount > 0 else { return }
        block(call.sampleTime, call.frameCount, ReadOnlyChannels(call.inputs[0].channels))
    }
}
