import AudioBase
import AudioDSP

/// A unit in the graph: an equalizer, a reverb, a plug-in of others.
///
/// ```swift
/// let reverb = AudioUnitEffect(.reverb)
/// try reverb.loadPreset("large-hall")
/// reverb["mix"]?.value = 30
/// ```
public class AudioUnitEffect: AudioNode, @unchecked Sendable {
    /// The unit's name, parameters and presets.
    public let unit: UnitDescription
    private let make: @Sendable (Double, Int) throws -> UnitInstance
    private let store: ParameterStore
    private let counters = Counters()
    private let outputChannelCount: @Sendable (Int) -> Int

    /// - Parameter name: what errors call it; the unit's name unless said otherwise.
    public convenience init(_ type: UnitType, name: String? = nil) {
        self.init(unit: type.description, name: name, outputChannelCount: type.outputChannelCount(of:)) {
            type.makeUnit(sampleRate: $0, channelCount: $1)
        }
    }

    /// A unit from elsewhere, such as a plug-in.
    /// - Parameters:
    ///   - outputChannelCount: channels that come out where so many go in.
    ///   - make: called on the control thread, with hertz and input channels, when the graph is compiled.
    public init(
        unit: UnitDescription, name: String? = nil, outputChannelCount: @escaping @Sendable (Int) -> Int = { $0 },
        make: @escaping @Sendable (Double, Int) throws -> UnitInstance
    ) {
        self.unit = unit
        self.make = make
        self.outputChannelCount = outputChannelCount
        store = ParameterStore(unit.parameters)
        super.init(name: name ?? unit.name)
    }

    /// A parameter by its identifier.
    public subscript(identifier: String) -> AudioParameter? {
        unit.index(of: identifier).map { AudioParameter(store, $0, node: name) }
    }

    /// A parameter by its identifier, or an error that says which there are.
    public func parameter(_ identifier: String) throws(AudioEngineError) -> AudioParameter {
        guard let parameter = self[identifier] else {
            throw .noParameter(
                unit: unit.name, name: identifier, near: nearestNames(identifier, in: unit.parameters.map(\.identifier))
            )
        }
        return parameter
    }

    public override var parameters: [AudioParameter] {
        unit.parameters.indices.map { AudioParameter(store, $0, node: name) }
    }

    /// Sets every parameter to what the preset says, all at the same block.
    public func loadPreset(_ name: String) throws(AudioEngineError) {
        guard let preset = unit.presets.first(where: { $0.name == name }) else {
            throw .noPreset(unit: unit.name, name: name, presets: unit.presets.map(\.name))
        }
        let values = unit.values(of: preset)
        store.set(Dictionary(uniqueKeysWithValues: values.indices.map { ($0, values[$0]) }))
    }

    /// Blocks silenced because the unit made something that was no number.
    public var faultCount: Int { counters[0] }

    override var worksInPlace: Bool { true }
    public override var numberOfInputs: Int? { unit.component.type == .generator ? 0 : 1 }

    override func negotiate(
        _ inputs: [Int: AudioFormat], engine: EngineFormat
    ) throws(AudioEngineError) -> NodeFormats {
        let given = inputs[0] ?? engine.output
        return NodeFormats(
            inputs: inputs.mapValues { _ in given },
            output: AudioFormat(sampleRate: given.sampleRate, channelCount: outputChannelCount(given.channelCount)))
    }

    override func makeState(_ formats: NodeFormats, engineRate: Double) throws(AudioEngineError) -> RenderState {
        let instance: UnitInstance
        do {
            instance = try make(formats.sampleRate, (formats.inputs[0] ?? formats.output).channelCount)
        } catch { throw .unitFailed(node: name, reason: "\(error)") }
        let ramps = ParameterRamps(store, sampleRate: formats.sampleRate, engineRate: engineRate)
        return RenderMemory(
            UnitState(instance, ramps: ramps, faults: counters.handle), latency: Double(instance.latency),
            keeping: [instance, counters],
            function: UnitState.function)
    }
}
