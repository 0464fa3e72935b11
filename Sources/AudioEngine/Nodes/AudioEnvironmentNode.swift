// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// Places sources around a listener, for headphones (`AVAudioEnvironmentNode`, the 3D mixer).
///
/// Each input is a mono source (more channels are averaged) with a position; the output is stereo. +x is right, +y up, −z
/// ahead, in metres.
public final class AudioEnvironmentNode: AudioNode, @unchecked Sendable {  // `sourceStates` is under the engine's lock
    private let scene = LockedValue(Scene())
    private var sourceStates: [Int: (rate: Double, source: RenderMemory<EnvironmentSource>)] = [:]
    private var latestState: RenderState?

    private struct Scene {
        var listener = ListenerGeometry()
        /// The sources by input bus.
        var sources: [Int: AudioEnvironmentInput] = [:]
    }

    /// Creates an environment with a listener at the origin who looks along −z.
    public override init(name: String = "environment") { super.init(name: name) }

    public override var numberOfInputs: Int? { nil }

    /// The listener's position and orientation. A change does not click.
    public var listener: ListenerGeometry {
        get { scene.withLock { $0.listener } }
        set {
            scene.withLock { scene in
                scene.listener = newValue
                for source in scene.sources.values { source.place(for: newValue) }
            }
        }
    }

    /// Updates a source's place relative to the listener, under the lock, so that the last change is stored last.
    func place(_ source: AudioEnvironmentInput) {
        scene.withLock { source.place(for: $0.listener) }
    }

    /// Returns the source at an input bus, created by the first call.
    public func input(_ bus: Int) -> AudioEnvironmentInput {
        scene.withLock { scene in
            if let source = scene.sources[bus] { return source }
            let source = AudioEnvironmentInput(self, bus: bus)
            source.place(for: scene.listener)
            scene.sources[bus] = source
            return source
        }
    }

    override func negotiate(
        _ inputs: [Int: AudioFormat], engine: EngineFormat
    ) throws(AudioEngineError) -> NodeFormats {
        let format = AudioFormat(sampleRate: engine.sampleRate, channelCount: 2)
        return NodeFormats(
            inputs: inputs.mapValues { _ in AudioFormat(sampleRate: engine.sampleRate, channelCount: 1) },
            output: format)
    }

    override func state(
        _ formats: NodeFormats, buses: [Int], engineRate: Double
    ) throws(AudioEngineError) -> RenderState {
        let sources = buses.map { bus -> RenderMemory<EnvironmentSource> in
            if let existing = sourceStates[bus], existing.rate == engineRate { return existing.source }
            let source = input(bus).makeSource(sampleRate: engineRate)
            sourceStates[bus] = (engineRate, source)
            return source
        }
        let latency = sources.first?.latency ?? 0
        let state = RenderMemory(
            EnvironmentState(sources.map(\.memory)), latency: latency, keeping: sources,
            function: EnvironmentState.function)
        latestState = state
        return state
    }

    override var currentState: RenderState? { latestState }

    override func dropState() {
        sourceStates = [:]
        latestState = nil
    }
}

/// One source of an ``AudioEnvironmentNode``. Any thread may use it.
public final class AudioEnvironmentInput: @unchecked Sendable {  // the store is safe, the position has a lock
    /// The number of the source's input bus.
    public let bus: Int
    private weak var environment: AudioEnvironmentNode?
    private let unit = UnitType.spatializer
    private let store: ParameterStore
    private let lockedPosition = LockedValue(SIMD3<Float>(0, 0, -1))
    private let counters = Counters()

    init(_ environment: AudioEnvironmentNode, bus: Int) {
        self.environment = environment
        self.bus = bus
        store = ParameterStore(unit.description.parameters)
    }

    /// The source's position in metres. NaN and infinity are ignored.
    public var position: SIMD3<Float> {
        get { lockedPosition.withLock { $0 } }
        set {
            guard newValue.x.isFinite, newValue.y.isFinite, newValue.z.isFinite else { return }
            lockedPosition.withLock { $0 = newValue }
            environment?.place(self)
        }
    }

    /// Returns a parameter of the source: the rendering algorithm, the distance model or a value of the model; nil if there is
    /// none of this name.
    public subscript(identifier: String) -> AudioParameter? {
        unit.description.index(of: identifier).map { AudioParameter(store, $0, node: "environment, input \(bus)") }
    }

    func place(for listener: ListenerGeometry) {
        let relative = listener.relative(position)
        store.set([0: relative.x, 1: relative.y, 2: relative.z])
    }

    func makeSource(sampleRate: Double) -> RenderMemory<EnvironmentSource> {
        let instance = unit.makeUnit(sampleRate: sampleRate, channelCount: 1)
        let ramps = ParameterRamps(store, sampleRate: sampleRate, engineRate: sampleRate)
        let state = UnitState(instance, ramps: ramps, faults: counters.handle)
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: RenderProgram.sliceFrameCount)
        let source = EnvironmentSource(unit: state, output: buffer.channels)
        return RenderMemory(source, latency: Double(instance.latency), keeping: [instance, buffer, counters]) { _, _ in
        }
    }
}

/// The render state of one source, with memory for the sound at the listener's two ears.
struct EnvironmentSource: ~Copyable {
    private var unit: UnitState
    private let bus: UnsafeMutablePointer<RenderBus>
    private let silent: UnsafeMutablePointer<Bool>
    private let call = UnsafeMutablePointer<RenderCall>.allocate(capacity: 1)

    init(unit: consuming UnitState, output: Channels) {
        self.unit = unit
        silent = .allocate(capacity: 1)
        silent.initialize(to: true)
        bus = .allocate(capacity: 1)
        bus.initialize(to: RenderBus(output, silent: silent))
    }

    deinit {
        bus.deallocate()
        silent.deallocate()
        call.deallocate()
    }

    /// Renders the source and adds its sound at the listener's ears to the output.
    @_noLocks
    mutating func add(_ input: UnsafePointer<RenderBus>, to output: RenderBus, _ call: RenderCall) {
        var sourceCall = call
        sourceCall.inputs = input
        sourceCall.inputCount = 1
        sourceCall.outputs = UnsafePointer(bus)
        sourceCall.outputCount = 1
        self.call.initialize(to: sourceCall)
        unit.process(UnsafePointer(self.call))
        guard !bus.pointee.isSilent else { return }
        output.isSilent = false
        for c in 0..<2 {
            let from = bus.pointee.channels[c]
            let to = output.channels[c]
            addSamples(to, from, call.frameCount, gain: 1)
        }
    }
}

/// The render state of the environment: adds the sound of all sources.
struct EnvironmentState: ~Copyable {
    private let sources: UnsafeMutablePointer<UnsafeMutablePointer<EnvironmentSource>>

    init(_ sources: [UnsafeMutablePointer<EnvironmentSource>]) {
        self.sources = .allocate(capacity: max(1, sources.count))
        for (i, source) in sources.enumerated() { (self.sources + i).initialize(to: source) }
    }

    deinit { sources.deallocate() }

    static var function: RenderFunction {
        { state, call in
            state.assumingMemoryBound(to: EnvironmentState.self).pointee.process(
                call.assumingMemoryBound(to: RenderCall.self).pointee)
        }
    }

    @_noLocks
    func process(_ call: RenderCall) {
        call.outputs[0].silence(call.frameCount)
        for k in 0..<call.inputCount { sources[k].pointee.add(call.inputs + k, to: call.outputs[0], call) }
    }
}
