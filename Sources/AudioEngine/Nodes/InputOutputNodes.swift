import AudioBase

/// What the device captures.
public final class AudioInputNode: AudioNode, @unchecked Sendable {
    init() { super.init(name: "input") }

    public override var numberOfInputs: Int? { 0 }

    override func negotiate(
        _ inputs: [Int: AudioFormat], engine: EngineFormat
    ) throws(AudioEngineError) -> NodeFormats {
        NodeFormats(inputs: [:], output: engine.input)
    }

    override func makeState(_ formats: NodeFormats, engineRate: Double) throws(AudioEngineError) -> RenderState {
        RenderMemory(InputState(), function: InputState.function)
    }

    /// Samples captured that were no number, and are silence.
    public var faultCount: Int { (currentState as? RenderMemory<InputState>)?.memory.pointee.faults ?? 0 }
}

/// What the device plays.
public final class AudioOutputNode: AudioNode, @unchecked Sendable {
    init() { super.init(name: "output") }

    public override var numberOfOutputs: Int { 0 }
    override func isOptional(bus: Int) -> Bool { false }

    override func negotiate(
        _ inputs: [Int: AudioFormat], engine: EngineFormat
    ) throws(AudioEngineError) -> NodeFormats {
        NodeFormats(inputs: inputs.mapValues { _ in engine.output }, output: engine.output)
    }

    override func makeState(_ formats: NodeFormats, engineRate: Double) throws(AudioEngineError) -> RenderState {
        RenderMemory(OutputState(), function: OutputState.function)
    }

    /// Samples that were no number when they came here, and are silence.
    public var faultCount: Int { (currentState as? RenderMemory<OutputState>)?.memory.pointee.faults ?? 0 }
}
