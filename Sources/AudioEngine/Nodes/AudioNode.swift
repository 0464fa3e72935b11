// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Synchronization

/// Something that makes, changes or takes sound; attached to an ``AudioEngine`` and connected to other nodes.
///
/// All members may be called from any thread.
public class AudioNode: @unchecked Sendable {  // what changes is under the engine's lock, or has its own
    /// The node's name in errors and pictures.
    public let name: String
    let id: Int
    /// The engine it is attached to.
    let attachment = LockedValue<ObjectIdentifier?>(nil)
    /// The tap on its output; under the engine's lock.
    var tap: NodeTap?
    private var cached: (formats: NodeFormats, engineRate: Double, state: RenderState)?
    private static let lastID = Atomic(0)

    init(name: String) {
        self.name = name
        id = Self.lastID.add(1, ordering: .relaxed).newValue
    }

    /// Buses that can be connected to; nil for as many as wanted.
    public var numberOfInputs: Int? { 1 }
    /// 1, or 0 for a node at which sound ends.
    public var numberOfOutputs: Int { 1 }
    /// Parameters by name, in the order of the unit's description.
    public var parameters: [AudioParameter] { [] }

    /// Returns the formats for these inputs; throws if the node cannot do them. Under the engine's lock.
    /// - Parameters:
    ///   - inputs: what comes to each bus that is connected.
    ///   - engine: the device's rate and output channels.
    func negotiate(_ inputs: [Int: AudioFormat], engine: EngineFormat) throws(AudioEngineError) -> NodeFormats {
        NodeFormats(inputs: inputs, output: inputs[0] ?? engine.output)
    }

    /// Makes what it keeps on the render side. Under the engine's lock.
    func makeState(_ formats: NodeFormats, engineRate: Double) throws(AudioEngineError) -> RenderState {
        RenderMemory(PassthroughState(), function: PassthroughState.function)
    }

    /// Returns the existing or a new state for these formats. Under the engine's lock.
    /// - Parameter buses: those that are connected, in the order of the step's inputs.
    func state(
        _ formats: NodeFormats, buses: [Int], engineRate: Double
    ) throws(AudioEngineError) -> RenderState {
        if let cached, keepsState(formats, engineRate: engineRate) { return cached.state }
        let state = try makeState(formats, engineRate: engineRate)
        cached = (formats, engineRate, state)
        return state
    }

    /// Returns true if the existing state fits these formats. An input that is disconnected, or reconnected unchanged, changes
    /// nothing. Under the engine's lock.
    func keepsState(_ formats: NodeFormats, engineRate: Double) -> Bool {
        if numberOfInputs == nil { return true }
        guard let cached, cached.engineRate == engineRate, cached.formats.output == formats.output,
            cached.formats.variant == formats.variant
        else { return false }
        return formats.inputs.allSatisfy { cached.formats.inputs[$0.key] == $0.value }
    }

    /// The state there is. Under the engine's lock.
    var currentState: RenderState? { cached?.state }

    /// Forgets what was heard: the next state is a new one. Under the engine's lock.
    func dropState() { cached = nil }

    /// Returns a closure that restores the present memory. Under the engine's lock, both.
    func restoration() -> () -> Void {
        let (cached, tap) = (cached, tap)
        let listening = tap?.restoration()
        return {
            self.cached = cached
            listening?()
        }
    }

    /// Frames by which its output lags behind its input, at its rate. Under the engine's lock.
    var latency: Double { currentState?.latency ?? 0 }

    /// Returns true if it must be compiled anew since it was last asked, though no edit said so. Under the engine's lock.
    func takeChange() -> Bool { false }

    /// Work that must not be done on the render thread, such as reading files. The engine's own thread, or the one that renders
    /// manually, before and after each call.
    func service() {}

    /// Calls who waits for what ``service()`` found. After it, on the same thread, without a lock.
    func callBack() {}

    /// Returns true if ``service()`` and ``callBack()`` are to be called.
    var needsService: Bool { false }
    /// Returns true if output may lie where the input was.
    var worksInPlace: Bool { false }
    /// Returns true if a bus may stay unconnected.
    func isOptional(bus: Int) -> Bool { numberOfInputs == nil }
}

/// The formats of a node's inputs and output.
struct NodeFormats: Hashable, Sendable {
    var inputs: [Int: AudioFormat]
    var output: AudioFormat
    /// Another number if the node sounds otherwise in the same formats.
    var variant = 0
    /// Frames a second that the node runs at.
    var sampleRate: Double { output.sampleRate }
}

/// The device's rate and channels.
struct EngineFormat: Hashable, Sendable {
    var sampleRate: Double
    var inputChannelCount: Int
    var outputChannelCount: Int
    /// The format of mixers and of the output.
    var output: AudioFormat { AudioFormat(sampleRate: sampleRate, channelCount: max(1, outputChannelCount)) }
    var input: AudioFormat { AudioFormat(sampleRate: sampleRate, channelCount: max(1, inputChannelCount)) }
}
