// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// A unit in the graph, such as an equalizer, a reverb or a plug-in.
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
    private let bypassing = LockedValue(Bypassing())
    private let bypassStore = ParameterStore([UnitParameter("bypass", "Bypass", .generic, 0...1, default: 0)])
    /// The unit's state, and the bypass state around it. Under the engine's lock, as is `isNew`.
    private var bypassed: (unit: RenderState, state: RenderState)?
    /// True if the unit's state was created for the program under construction.
    private var isNew = false

    private struct Bypassing {
        var isWanted = false
        /// True if the render thread reads `bypassStore`.
        var isCompiled = false
        var needsCompiling = false
    }

    /// - Parameter name: the name in errors; nil for the unit's name.
    public convenience init(_ type: UnitType, name: String? = nil) {
        self.init(unit: type.description, name: name, outputChannelCount: type.outputChannelCount(of:)) {
            type.makeUnit(sampleRate: $0, channelCount: $1)
        }
    }

    /// Creates a node of another unit, such as a plug-in.
    /// - Parameters:
    ///   - outputChannelCount: returns the number of output channels for a number of input channels.
    ///   - make: creates the unit for a sample rate in hertz and a number of input channels. Called on the control thread when
    ///     the graph is compiled.
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

    /// Returns the parameter with an identifier; nil if there is none.
    public subscript(identifier: String) -> AudioParameter? {
        unit.index(of: identifier).map { AudioParameter(store, $0, node: name) }
    }

    /// Returns the parameter with an identifier.
    /// - Throws: an error that lists similar names.
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

    /// Sets all parameters to the values of a preset, all from the same block on.
    public func loadPreset(_ name: String) throws(AudioEngineError) {
        guard let preset = unit.presets.first(where: { $0.name == name }) else {
            throw .noPreset(unit: unit.name, name: name, presets: unit.presets.map(\.name))
        }
        let values = unit.values(of: preset)
        store.set(Dictionary(uniqueKeysWithValues: values.indices.map { ($0, values[$0]) }))
    }

    /// The number of blocks silenced because the unit's output had NaN or infinity.
    public var faultCount: Int { counters[0] }

    /// True if the input is heard instead of the unit's output (`AVAudioUnitEffect.bypass`). At first false. Any thread may use
    /// it.
    ///
    /// The input is delayed by the unit's latency, and a change is a crossfade of 20 ms, or immediate before the engine starts.
    /// Channels are mapped as at a connection; a bypassed generator is silent.
    ///
    /// The unit keeps rendering at full cost, so that its tail, levels and parameters are right when it is heard again. To save
    /// its cost, remove it by ``AudioEngine/edit(_:)``. A unit that was never bypassed pays nothing.
    public var bypass: Bool {
        get { bypassing.withLock { $0.isWanted } }
        set {
            bypassing.withLock { bypassing in
                bypassing.isWanted = newValue
                if bypassing.isCompiled {
                    bypassStore.set(0, to: newValue ? 1 : 0)
                } else {
                    bypassing.needsCompiling = newValue
                }
            }
        }
    }

    override func takeChange() -> Bool {
        bypassing.withLock { bypassing in
            defer { bypassing.needsCompiling = false }
            return bypassing.needsCompiling
        }
    }

    override var worksInPlace: Bool { true }
    public override var numberOfInputs: Int? { unit.component.type == .generator ? 0 : 1 }

    override func negotiate(
        _ inputs: [Int: AudioFormat], engine: EngineFormat
    ) throws(AudioEngineError) -> NodeFormats {
        let input = inputs[0] ?? engine.output
        return NodeFormats(
            inputs: inputs.mapValues { _ in input },
            output: AudioFormat(sampleRate: input.sampleRate, channelCount: outputChannelCount(input.channelCount)))
    }

    /// Returns the unit's state, or the bypass state around it. At first both sound the same, so the graph need not fade.
    override func state(
        _ formats: NodeFormats, buses: [Int], engineRate: Double
    ) throws(AudioEngineError) -> RenderState {
        let unit = try super.state(formats, buses: buses, engineRate: engineRate)
        if let bypassed, bypassed.unit === unit { return bypassed.state }
        bypassed = nil
        let isRunning = !isNew
        isNew = false
        let isWanted = bypassing.withLock { bypassing in
            bypassing.isCompiled = false
            bypassing.needsCompiling = false
            bypassStore.set(0, to: bypassing.isWanted && !isRunning ? 1 : 0)
            return bypassing.isWanted
        }
        guard isWanted else { return unit }
        let bypassState = BypassState(
            unit, ramps: ParameterRamps(bypassStore, sampleRate: formats.sampleRate, engineRate: engineRate),
            inputChannelCount: (formats.inputs[0] ?? formats.output).channelCount,
            outputChannelCount: formats.output.channelCount, isRunning: isRunning,
            slice: ProgramBuffers(engineRate: engineRate).capacity(formats.sampleRate))
        bypassing.withLock { bypassing in
            bypassing.isCompiled = true
            bypassStore.set(0, to: bypassing.isWanted ? 1 : 0)
        }
        let state = RenderMemory(
            bypassState, latency: unit.latency, keeping: [unit, bypassStore], function: BypassState.function)
        bypassed = (unit, state)
        return state
    }

    override func restoration() -> () -> Void {
        let (unit, bypassed) = (super.restoration(), bypassed)
        let isCompiled = bypassing.withLock { $0.isCompiled }
        return {
            unit()
            self.bypassed = bypassed
            self.isNew = false
            self.bypassing.withLock { bypassing in
                bypassing.isCompiled = isCompiled
                if isCompiled { self.bypassStore.set(0, to: bypassing.isWanted ? 1 : 0) }
            }
        }
    }

    override func dropState() {
        super.dropState()
        bypassed = nil
    }

    override func makeState(_ formats: NodeFormats, engineRate: Double) throws(AudioEngineError) -> RenderState {
        isNew = true
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
