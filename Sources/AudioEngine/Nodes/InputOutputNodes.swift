import AudioBase

/// What the device captures.
public final class AudioInputNode: AudioNode, @unchecked Sendable {
    private let counters = Counters()

    init() { super.init(name: "input") }

    public override var numberOfInputs: Int? { 0 }

    override func negotiate(
        _ inputs: [Int: AudioFormat], engine: EngineFormat
    ) throws(AudioEngineError) -> NodeFormats {
        NodeFormats(inputs: [:], output: engine.input)
    }

    override func makeState(_ formats: NodeFormats, engineRate: Double) throws(AudioEngineError) -> RenderState {
        RenderMemory(InputState(faults: counters.handle), keeping: [counters], function: InputState.function)
    }

    /// Samples captured that were no number, and are silence.
    public var faultCount: Int { counters[0] }
}

/// What the device plays.
public final class AudioOutputNode: AudioNode, @unchecked Sendable {
    private let counters = Counters()

    init() { super.init(name: "output") }

    public override var numberOfOutputs: Int { 0 }
    override func isOptional(bus: Int) -> Bool { false }

    override func negotiate(
        _ inputs: [Int: AudioFormat], engine: EngineFormat
    ) throws(AudioEngineError) -> NodeFormats {
        NodeFormats(inputs: inputs.mapValues { _ in engine.output }, output: engine.output)
    }

    override func makeState(_ formats: NodeFormats, engineRate: Double) throws(AudioEngineError) -> RenderState {
        RenderMemory(OutputState(faults: counters.handle), keeping: [counters], function: OutputState.function)
    }

    /// Samples that were no number when they came here, and are silence.
    public var faultCount: Int { counters[0] }
}
