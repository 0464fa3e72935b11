// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Synchronization

/// Mixes any number of inputs, each with volume, pan, mute, solo and meter, into one output with a volume.
public final class AudioMixerNode: AudioNode, @unchecked Sendable {
    private let strips = LockedValue<[Int: AudioMixerInput]>([:])
    private let store = ParameterStore([UnitParameter("volume", "Volume", .generic, 0...8, default: 1)])
    private let levels = LevelMeter()
    private let readings = LatestValue(MeterReading())
    private let blocks = MessageQueue<LoudnessBlock>(capacity: 256)
    private let reader = LockedValue(Reader())
    private let metering = Counters()
    private let channelCount: Int?
    private var master: (rate: Double, memory: RenderMemory<MixerMaster>)?

    /// The measurements outside the render thread.
    private struct Reader {
        var format = AudioFormat(sampleRate: 48_000, channelCount: 2) { didSet { restart() } }
        var meter = LoudnessMeter(sampleRate: 48_000, channelCount: 2, measuresTruePeak: false)

        mutating func restart() {
            meter = LoudnessMeter(
                sampleRate: format.sampleRate, channelCount: format.channelCount, measuresTruePeak: false)
        }
    }

    /// - Parameter channelCount: the number of output channels; nil for the engine's.
    public init(channelCount: Int? = nil, name: String = "mixer") {
        self.channelCount = channelCount
        super.init(name: name)
    }

    public override var numberOfInputs: Int? { nil }

    /// The gain of the mix as a factor, 0 to 8.
    public var outputVolume: Float {
        get { store.values[0] }
        set { store.set(0, to: newValue) }
    }

    public override var parameters: [AudioParameter] { [AudioParameter(store, 0, node: name)] }

    /// Returns the mixer's input at a bus, created by the first call.
    public func input(_ bus: Int) -> AudioMixerInput {
        strips.withLock { strips in
            if let strip = strips[bus] { return strip }
            let strip = AudioMixerInput(mixer: self, bus: bus)
            if strips.values.contains(where: \.isSoloed) { strip.setSounding(false) }
            strips[bus] = strip
            return strip
        }
    }

    /// The peak and mean square of the last mixed block, after the volume.
    public var level: Level { levels.load() }

    /// True if ``meter`` and ``loudness`` are measured (`kAudioUnitProperty_MeteringMode`). At first false, because these
    /// measurements cost more than mixing; ``level`` works without them. A change takes effect in the next block. ``loudness``
    /// keeps earlier sound until ``resetLoudness()``.
    public var isMeteringEnabled: Bool {
        get { metering[0] != 0 }
        set { reader.withLock { _ in metering.handle.add((newValue ? 1 : 0) - metering[0]) } }
    }

    /// The peak, the RMS and the loudness of the last 400 ms and 3 s of the output, for a display. Silence while
    /// ``isMeteringEnabled`` is false.
    public var meter: MeterReading { reader.withLock { _ in readings.load() } }

    /// The loudness by EBU R 128 of the output while ``isMeteringEnabled``, since the node was created or ``resetLoudness()``.
    public var loudness: LoudnessMeter.Measurement {
        service()
        return reader.withLock { $0.meter.measurement }
    }

    /// Starts a new measurement of ``loudness``.
    public func resetLoudness() {
        reader.withLock { reader in
            while blocks.pop() != nil {}
            reader.restart()
        }
    }

    override var needsService: Bool { true }

    override func service() {
        reader.withLock { reader in
            while let block = blocks.pop() { reader.meter.add(block) }
        }
    }

    /// Applies solo: while at least one input is soloed, inputs that are not soloed are silent.
    func updateSolo() {
        strips.withLock { strips in
            let soloed = strips.values.contains { $0.isSoloed }
            for strip in strips.values { strip.setSounding(soloed ? strip.isSoloed : true) }
        }
    }

    override func negotiate(
        _ inputs: [Int: AudioFormat], engine: EngineFormat
    ) throws(AudioEngineError) -> NodeFormats {
        let output = AudioFormat(
            sampleRate: engine.sampleRate, channelCount: channelCount ?? engine.output.channelCount)
        return NodeFormats(
            inputs: inputs.mapValues { AudioFormat(sampleRate: engine.sampleRate, channelCount: $0.channelCount) },
            output: output)
    }

    override func state(
        _ formats: NodeFormats, buses: [Int], engineRate: Double
    ) throws(AudioEngineError) -> RenderState {
        if master?.rate != engineRate {
            let ramps = ParameterRamps(store, sampleRate: engineRate, engineRate: engineRate)
            master = (
                engineRate,
                RenderMemory(
                    MixerMaster(
                        ramps: ramps, format: formats.output, level: levels.handle, readings: readings.writer,
                        blocks: blocks.writer, metering: metering.handle),
                    keeping: [levels, readings, blocks, metering]
                ) { _, _ in }
            )
            reader.withLock { if $0.format != formats.output { $0.format = formats.output } }
        }
        guard let master = master?.memory else { preconditionFailure("the master strip was just made") }
        let memories = buses.map { input($0).memory(engineRate: engineRate) }
        let state = MixerState(
            strips: memories.map(\.memory), master: master.memory, outputChannelCount: formats.output.channelCount)
        return RenderMemory(state, keeping: memories + [master], function: MixerState.function)
    }

    override func dropState() {
        master = nil
        for strip in strips.withLock({ Array($0.values) }) { strip.dropState() }
    }
}

/// One input of a mixer. Any thread may use it.
public final class AudioMixerInput: @unchecked Sendable {  // `stripMemory` is under the engine's lock
    /// The number of the input's bus.
    public let bus: Int
    private weak var mixer: AudioMixerNode?
    private let store = ParameterStore([
        UnitParameter("volume", "Volume", .generic, 0...8, default: 1),
        UnitParameter("pan", "Pan", .pan, -1...1, default: 0),
        UnitParameter("sounds", "Sounds", .generic, 0...1, default: 1),
    ])
    private let meter = LevelMeter()
    private let switches = LockedValue((muted: false, soloed: false, allowed: true))
    private var stripMemory: (rate: Double, memory: RenderMemory<MixerStrip>)?

    init(mixer: AudioMixerNode, bus: Int) {
        self.mixer = mixer
        self.bus = bus
    }

    /// The input's gain as a factor, 0 to 8.
    public var volume: Float {
        get { store.values[0] }
        set { store.set(0, to: newValue) }
    }
    /// The input's pan: −1 is left, 1 is right. It attenuates the opposite side; the middle is unchanged.
    public var pan: Float {
        get { store.values[1] }
        set { store.set(1, to: newValue) }
    }
    /// Volume and pan as parameters whose changes can be scheduled.
    public var parameters: [AudioParameter] {
        (0...1).map { AudioParameter(store, $0, node: "\(mixer?.name ?? "mixer"), input \(bus)") }
    }
    /// Returns the parameter `volume` or `pan`; nil for other identifiers.
    public subscript(identifier: String) -> AudioParameter? {
        parameters.first { $0.information.identifier == identifier }
    }
    /// True if the input is muted.
    public var isMuted: Bool {
        get { switches.withLock { $0.muted } }
        set {
            switches.withLock { switches in
                switches.muted = newValue
                update(switches)
            }
        }
    }
    /// True if the input is soloed. While at least one input is soloed, inputs that are not soloed are silent.
    public var isSoloed: Bool {
        get { switches.withLock { $0.soloed } }
        set {
            switches.withLock { $0.soloed = newValue }
            mixer?.updateSolo()
        }
    }
    /// The peak and mean square of the last input block, before volume and pan.
    public var level: Level { meter.load() }

    func setSounding(_ allowed: Bool) {
        switches.withLock { switches in
            switches.allowed = allowed
            update(switches)
        }
    }

    /// Stores the switches, under the lock, so that the last change is stored last.
    private func update(_ switches: (muted: Bool, soloed: Bool, allowed: Bool)) {
        store.set(2, to: switches.allowed && !switches.muted ? 1 : 0)
    }

    func memory(engineRate: Double) -> RenderMemory<MixerStrip> {
        if let stripMemory, stripMemory.rate == engineRate { return stripMemory.memory }
        let ramps = ParameterRamps(store, sampleRate: engineRate, engineRate: engineRate)
        let memory = RenderMemory(MixerStrip(ramps: ramps, meter: meter.handle), keeping: [meter]) { _, _ in }
        stripMemory = (engineRate, memory)
        return memory
    }

    func dropState() { stripMemory = nil }
}
