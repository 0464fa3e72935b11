// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotVoiceProcessing

/// The render state of the input node: outputs the captured samples, after voice processing if there is one.
struct InputState: ~Copyable {
    let faults: Counters.Handle
    let voice: Voice?
    private var hasBegun = false

    /// Voice processing, and the line from the output to its echo canceller.
    struct Voice {
        let port: VoiceProcessingPort
        let line: UnsafeMutablePointer<EchoReferenceLine.Memory>
    }

    init(faults: Counters.Handle, voice: Voice?) {
        self.faults = faults
        self.voice = voice
    }

    static var function: RenderFunction {
        { state, call in
            state.assumingMemoryBound(to: InputState.self).pointee.process(
                call.assumingMemoryBound(to: RenderCall.self).pointee)
        }
    }

    @_noLocks
    mutating func process(_ call: RenderCall) {
        let to = call.outputs[0]
        let from = call.cycle.pointee.input
        for c in 0..<to.channels.count {
            if c < from.count {
                copySamples(to.channels[c], from[c] + call.offset, call.frameCount)
            } else {
                clearSamples(to.channels[c], call.frameCount)
            }
        }
        faults.add(scrub(to.channels, call.frameCount))
        if let voice {
            if !hasBegun { voice.line.pointee.begin() }
            hasBegun = true
            let reference = voice.line.pointee.next(call.frameCount)
            voice.port.process(to.channels, reference: reference, frameCount: call.frameCount)
        }
        to.isSilent = soundStart(to.channels, call.frameCount) == call.frameCount
    }
}

/// The render state of the output node: copies the graph's sound to the device's output.
struct OutputState: ~Copyable {
    let faults: Counters.Handle
    /// The line to the input's echo canceller; nil without voice processing.
    let line: UnsafeMutablePointer<EchoReferenceLine.Memory>?

    static var function: RenderFunction {
        { state, call in
            state.assumingMemoryBound(to: OutputState.self).pointee.process(
                call.assumingMemoryBound(to: RenderCall.self).pointee)
        }
    }

    @_noLocks
    func process(_ call: RenderCall) {
        let to = call.cycle.pointee.output
        guard call.inputCount > 0, !call.inputs[0].isSilent else {  // the device's output is silent already
            line?.pointee.write(to, offset: call.offset, frameCount: call.frameCount)
            return
        }
        let from = call.inputs[0].channels
        faults.add(scrub(from, call.frameCount))
        for c in 0..<to.count where c < from.count {
            copySamples(to[c] + call.offset, from[c], call.frameCount)
        }
        line?.pointee.write(to, offset: call.offset, frameCount: call.frameCount)
    }
}

/// Copies the input to the output, for a node that exists for its name, format or tap.
struct PassthroughState: ~Copyable {
    static var function: RenderFunction {
        { state, call in
            state.assumingMemoryBound(to: PassthroughState.self).pointee.process(
                call.assumingMemoryBound(to: RenderCall.self).pointee)
        }
    }

    @_noLocks
    func process(_ call: RenderCall) {
        if call.inputCount > 0 {
            call.outputs[0].copy(call.inputs[0], call.frameCount)
        } else {
            call.outputs[0].silence(call.frameCount)
        }
    }
}

/// Writes a node's output into the ring of a tap.
struct TapState: ~Copyable {
    let ring: AudioRing.Writer
    let wakeup: Wakeup.Handle
    private var expectedSampleTime: Int64 = 0  // a tap that begins late skips the frames before

    init(ring: AudioRing.Writer, wakeup: Wakeup.Handle) {
        self.ring = ring
        self.wakeup = wakeup
    }

    static var function: RenderFunction {
        { state, call in
            state.assumingMemoryBound(to: TapState.self).pointee.process(
                call.assumingMemoryBound(to: RenderCall.self).pointee)
        }
    }

    @_noLocks
    mutating func process(_ call: RenderCall) {
        guard call.frameCount > 0 else { return }
        if call.sampleTime > expectedSampleTime { ring.skip(Int(call.sampleTime &- expectedSampleTime)) }
        expectedSampleTime = call.sampleTime &+ Int64(call.frameCount)
        ring.write(call.inputs[0].channels, frameCount: call.frameCount)
        wakeup.wake()
    }
}
