// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Synchronization

/// A node that makes, changes or receives sound; attached to an ``AudioEngine`` and connected to other nodes.
///
/// All members may be called from any thread.
public class AudioNode: @unchecked Sendable {  // what changes is under the engine's lock, or has its own
    /// The node's name in errors and descriptions.
    public let name: String
    let id: Int
    /// The engine to which the node is attached.
    let attachment = LockedValue<ObjectIdentifier?>(nil)
    /// The tap on the node's output. Under the engine's lock.
    var tap: NodeTap?
    private var cachedState: (formats: NodeFormats, engineRate: Double, state: RenderState)?
    private static let lastID = Atomic(0)

    init(name: String) {
        self.name = name
        id = Self.lastID.add(1, ordering: .relaxed).newValue
    }

    /// The number of input buses; nil for any number.
    public var numberOfInputs: Int? { 1 }
    /// The number of outputs: 1, or 0 for a node without output.
    public var numberOfOutputs: Int { 1 }
    /// The node's parameters, in the order of the unit's description.
    public var parameters: [AudioParameter] { [] }

    /// Returns the node's formats for these inputs. Under the engine's lock.
    /// - Parameters:
    ///   - inputs: the formats of the connected buses.
    ///   - engine: the engine's rate and channel counts.
    /// - Throws: if the node cannot render these formats.
    func negotiate(_ inputs: [Int: AudioFormat], engine: EngineFormat) throws(AudioEngineError) -> NodeFormats {
        NodeFormats(inputs: inputs, output: inputs[0] ?? engine.output)
    }

    /// Creates the render state. Under the engine's lock.
    func makeState(_ formats: NodeFormats, engineRate: Double) throws(AudioEngineError) -> RenderState {
        RenderMemory(PassthroughState(), function: PassthroughState.function)
    }

    /// Returns the existing or a new state for these formats. Under the engine's lock.
    /// - Parameter buses: the connected buses, in the order of the step's inputs.
    func state(
        _ formats: NodeFormats, buses: [Int], engineRate: Double
    ) throws(AudioEngineError) -> RenderState {
        if let cachedState, keepsState(formats, engineRate: engineRate) { return cachedState.state }
        let state = try makeState(formats, engineRate: engineRate)
        cachedState = (formats, engineRate, state)
        return state
    }

    /// Returns true if the node can keep its existing state. It can if the engine's rate, ``NodeFormats/variant`` and the formats
    /// of the output and of all connected inputs are still the same. A disconnected input does not matter, nor do the inputs of a
    /// node that takes any number of them. Under the engine's lock.
    func keepsState(_ formats: NodeFormats, engineRate: Double) -> Bool {
        if numberOfInputs == nil { return true }
        guard let cachedState, cachedState.engineRate == engineRate, cachedState.formats.output == formats.output,
            cachedState.formats.variant == formats.variant
        else { return false }
        return formats.inputs.allSatisfy { cachedState.formats.inputs[$0.key] == $0.value }
    }

    /// The existing state. Under the engine's lock.
    var currentState: RenderState? { cachedState?.state }

    /// Discards the render state, so that the next program gets a new one. Under the engine's lock.
    func dropState() { cachedState = nil }

    /// Returns a closure that restores the node's present state. Both are called under the engine's lock.
    func restoration() -> () -> Void {
        let (cachedState, tap) = (cachedState, tap)
        let restoreTap = tap?.restoration()
        return {
            self.cachedState = cachedState
            restoreTap?()
        }
    }

    /// The delay of the output after the input, in frames at the node's rate. Under the engine's lock.
    var latency: Double { currentState?.latency ?? 0 }

    /// Returns true if the node has changed since the last call without an edit of the graph, and must be compiled again. Under
    /// the engine's lock.
    func takeChange() -> Bool { false }

    /// Does work that the render thread must not do, such as reading files. Called on the engine's own thread, in manual
    /// rendering on the rendering thread before and after each call.
    func service() {}

    /// Calls the completion handlers for the results of ``service()``. Called after it, on the same thread, without a lock.
    func callBack() {}

    /// True if ``service()`` and ``callBack()`` must be called.
    var needsService: Bool { false }
    /// True if the output may use the input's memory.
    var worksInPlace: Bool { false }
    /// Returns true if a bus may remain unconnected.
    func isOptional(bus: Int) -> Bool { numberOfInputs == nil }
}

/// The formats of a node's inputs and output.
struct NodeFormats: Hashable, Sendable {
    var inputs: [Int: AudioFormat]
    var output: AudioFormat
    /// A number that changes when the node renders differently in the same formats.
    var variant = 0
    /// The sample rate of the node in hertz.
    var sampleRate: Double { output.sampleRate }
}

/// The engine's sample rate in hertz, and the channel counts of its input and output.
struct EngineFormat: Hashable, Sendable {
    var sampleRate: Double
    var inputChannelCount: Int
    var outputChannelCount: Int
    /// The format of the output node, and of mixers without a channel count of their own.
    var output: AudioFormat { AudioFormat(sampleRate: sampleRate, channelCount: max(1, outputChannelCount)) }
    var input: AudioFormat { AudioFormat(sampleRate: sampleRate, channelCount: max(1, inputChannelCount)) }
}
