// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotVoiceProcessing

/// The node that outputs the captured sound, or the input of manual rendering.
public final class AudioInputNode: AudioNode, @unchecked Sendable {  // as AudioNode
    private let counters = Counters()
    private let voice = LockedValue(Voice())

    /// Voice processing and its error.
    private struct Voice {
        var options: VoiceProcessingOptions?
        var worker: VoiceProcessingWorker?
        var error: VoiceProcessingError?
        /// Incremented by each change, so that the graph sees a different node.
        var generation = 0
        /// True while a device calls the engine, and the real-time priority of the device's thread.
        var live: (isLive: Bool, priority: Int?) = (false, nil)
        var blockFrameCount = RenderProgram.sliceFrameCount
    }
    private var existingLine: EchoReferenceLine?
    /// The line from the output to the echo canceller; nil without voice processing. Under the engine's lock.
    var line: EchoReferenceLine? {
        let block = voice.withLock { $0.options == nil ? nil : $0.blockFrameCount }
        guard let block else { return nil }
        let slice = RenderProgram.sliceFrameCount
        let line = existingLine ?? EchoReferenceLine(delay: min(block, slice), frameCapacity: slice)
        existingLine = line
        return line
    }

    init() { super.init(name: "input") }

    public override var numberOfInputs: Int? { 0 }

    /// The number of captured samples that were NaN or infinite, and are output as silence.
    public var faultCount: Int { counters[0] }

    /// The voice processor between the device and this node's output; nil without one. ``AudioEngine/setVoiceProcessing(_:)``
    /// creates it.
    package var voiceProcessor: VoiceProcessingWorker? { voice.withLock { $0.worker } }
    /// The reason that the plain input is heard although voice processing was requested; nil if there is none.
    public var voiceProcessingError: VoiceProcessingError? { voice.withLock { $0.error ?? $0.worker?.error } }

    func setVoiceProcessing(_ options: VoiceProcessingOptions?) {
        voice.withLock { voice in
            voice.options = options
            voice.error = nil
            voice.generation += 1
        }
    }

    /// Records that a device starts or stops calling; stops the thread of voice processing at a stop. Under the engine's lock.
    func setLive(_ isLive: Bool, priority: Int?) {
        voice.withLock { voice in
            voice.live = (isLive, priority)
            if !isLive { voice.worker?.stop() }
        }
    }

    /// Sets the frames of a device's block, at most 4,096, before the graph is compiled.
    func setBlock(_ frameCount: Int) {
        voice.withLock { $0.blockFrameCount = max(1, min(4_096, frameCount)) }
        existingLine = nil
    }

    override var needsService: Bool { voice.withLock { $0.worker != nil } }

    /// The delay in frames; 0 without voice processing and after its failure, because the plain input is then heard.
    override var latency: Double { voice.withLock { $0.worker?.isLeft ?? true } ? 0 : super.latency }

    override func restoration() -> () -> Void {
        let (state, worker) = (super.restoration(), voice.withLock { $0.worker })
        return {
            state()
            self.voice.withLock { $0.worker = worker }
        }
    }

    /// Starts the voice processor's thread while a device calls; otherwise does the thread's work here.
    override func service() {
        voice.withLock { voice in
            guard let worker = voice.worker else { return }
            guard voice.live.isLive else {
                worker.runPending()
                return
            }
            do throws(VoiceProcessingError) {
                try worker.start(below: voice.live.priority)
            } catch {
                voice.error = error
                worker.leave(error)
            }
        }
    }

    override func negotiate(
        _ inputs: [Int: AudioFormat], engine: EngineFormat
    ) throws(AudioEngineError) -> NodeFormats {
        NodeFormats(inputs: [:], output: engine.input, variant: voice.withLock { $0.generation })
    }

    override func makeState(_ formats: NodeFormats, engineRate: Double) throws(AudioEngineError) -> RenderState {
        let worker = voice.withLock { voice -> VoiceProcessingWorker? in
            voice.worker = nil
            guard let options = voice.options else { return nil }
            do throws(VoiceProcessingError) {
                voice.worker = try VoiceProcessingWorker(
                    sampleRate: engineRate, maximumFrameCount: voice.blockFrameCount, options: options)
                return voice.worker
            } catch {
                voice.error = error
                return nil
            }
        }
        guard let worker, let line else {
            return RenderMemory(
                InputState(faults: counters.handle, voice: nil), keeping: [counters], function: InputState.function)
        }
        return RenderMemory(
            InputState(faults: counters.handle, voice: .init(port: worker.port, line: line.memory)),
            latency: Double(worker.latency), keeping: [counters, worker, line], function: InputState.function)
    }
}

/// The node whose input is played by the device or returned by manual rendering.
public final class AudioOutputNode: AudioNode, @unchecked Sendable {  // as AudioNode
    private let counters = Counters()
    private let input: AudioInputNode

    init(input: AudioInputNode) {
        self.input = input
        super.init(name: "output")
    }

    public override var numberOfOutputs: Int { 0 }

    /// The number of samples at this node that were NaN or infinite, and are output as silence.
    public var faultCount: Int { counters[0] }

    override func isOptional(bus: Int) -> Bool { false }

    override func negotiate(
        _ inputs: [Int: AudioFormat], engine: EngineFormat
    ) throws(AudioEngineError) -> NodeFormats {
        NodeFormats(inputs: inputs.mapValues { _ in engine.output }, output: engine.output)
    }

    /// Returns a different state if the input's echo canceller listens to the output. The sound is the same, so no fade is
    /// needed.
    override func state(
        _ formats: NodeFormats, buses: [Int], engineRate: Double
    ) throws(AudioEngineError) -> RenderState {
        if let line = input.line {
            return RenderMemory(
                OutputState(faults: counters.handle, line: line.memory), keeping: [counters, line],
                function: OutputState.function)
        }
        return try super.state(formats, buses: buses, engineRate: engineRate)
    }

    override func makeState(_ formats: NodeFormats, engineRate: Double) throws(AudioEngineError) -> RenderState {
        RenderMemory(
            OutputState(faults: counters.handle, line: nil), keeping: [counters], function: OutputState.function)
    }
}
