// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotVoiceProcessing
import Synchronization

/// A graph of nodes that renders for a device in real time, or into memory faster than real time.
///
/// ```swift
/// let engine = AudioEngine()
/// let reverb = AudioUnitEffect(.reverb)
/// engine.attach(reverb)
/// try engine.connect(engine.inputNode, to: reverb)
/// try engine.connect(reverb, to: engine.mainMixerNode)
/// try engine.start(on: device)
/// ```
///
/// All members may be used on any thread, also while the engine runs. Changes of the graph fade over 20 ms, from the next block
/// on at the earliest; changes in one ``edit(_:)`` take effect together.
public final class AudioEngine: Sendable {
    /// The node that outputs the captured sound, or the input of manual rendering.
    public let inputNode = AudioInputNode()
    /// The node whose input is played by the device or returned by manual rendering.
    public let outputNode: AudioOutputNode
    /// A mixer that is connected to the output node from the start.
    public let mainMixerNode = AudioMixerNode(name: "main mixer")

    let state: LockedValue<EngineState>
    let wakeup = Wakeup()
    let lifecycle = Lifecycle()

    /// Creates an engine whose graph has only the input node, the output node and the main mixer.
    public init() {
        outputNode = AudioOutputNode(input: inputNode)
        var graph = Graph()
        for node in [inputNode, outputNode, mainMixerNode] { graph.attach(node) }
        do {
            try graph.connect(mainMixerNode, bus: 0, to: outputNode, bus: 0, format: nil)
        } catch { preconditionFailure("\(error)") }
        state = LockedValue(EngineState(graph: graph))
        for node in [inputNode, outputNode, mainMixerNode] { node.attachment.withLock { $0 = ObjectIdentifier(self) } }
    }

    deinit {
        stop()
        for node in attachedNodes { node.attachment.withLock { $0 = nil } }
    }

    /// Attaches a node, which is silent until it is connected. Does nothing if the node is attached already.
    /// - Throws: ``AudioEngineError/attachedElsewhere(_:)``.
    public func attach(_ node: AudioNode) throws(AudioEngineError) {
        try edit { edit throws(AudioEngineError) in try edit.attach(node) }
    }

    /// Detaches a node, removes its connections and discards its state. While the engine renders, another engine can attach the
    /// node only after the node has faded out.
    public func detach(_ node: AudioNode) throws(AudioEngineError) {
        try edit { edit throws(AudioEngineError) in try edit.detach(node) }
    }

    /// Connects an output to an input and removes that input's previous connection.
    /// - Parameters:
    ///   - bus: the number of the destination's input; nil for input 0, or for the first free input of a mixer.
    ///   - format: the format of the connection; nil for the source's format, converted if the destination requires another.
    public func connect(
        _ source: AudioNode, to destination: AudioNode, bus: Int? = nil, format: AudioFormat? = nil
    ) throws(AudioEngineError) {
        try edit { edit throws(AudioEngineError) in
            try edit.connect(source, to: destination, bus: bus, format: format)
        }
    }

    /// Disconnects the input `bus` of a node, or all inputs of the node if `bus` is nil.
    public func disconnectNodeInput(_ node: AudioNode, bus: Int? = nil) throws(AudioEngineError) {
        try edit { edit throws(AudioEngineError) in try edit.disconnectNodeInput(node, bus: bus) }
    }

    /// Disconnects a node's output from all inputs that it feeds.
    public func disconnectNodeOutput(_ node: AudioNode, bus: Int? = nil) throws(AudioEngineError) {
        try edit { edit throws(AudioEngineError) in try edit.disconnectNodeOutput(node, bus: bus) }
    }

    /// Makes several changes that take effect together. If one fails, no change takes effect.
    public func edit(_ changes: (inout Edit) throws(AudioEngineError) -> Void) throws(AudioEngineError) {
        let error = state.withLock { state -> AudioEngineError? in
            var edit = Edit(
                engine: ObjectIdentifier(self), permanent: [inputNode, outputNode, mainMixerNode],
                graph: state.graph)
            do throws(AudioEngineError) {
                try changes(&edit)
                try state.accept(edit)
                return nil
            } catch {
                for node in edit.attached where state.graph.nodes[node.id] == nil {
                    node.attachment.withLock { $0 = nil }
                }
                return error
            }
        }
        if let error { throw error }
        wakeup.handle.wake()
    }

    /// The changes of one ``AudioEngine/edit(_:)``, which take effect together.
    public struct Edit: ~Copyable {
        let engine: ObjectIdentifier
        let permanent: [AudioNode]
        var graph: Graph
        var detached: [AudioNode] = []
        var attached: [AudioNode] = []

        init(engine: ObjectIdentifier, permanent: [AudioNode], graph: Graph) {
            self.engine = engine
            self.permanent = permanent
            self.graph = graph
        }

        /// The same as ``AudioEngine/attach(_:)``.
        public mutating func attach(_ node: AudioNode) throws(AudioEngineError) {
            guard graph.nodes[node.id] == nil else { return }
            let engine = engine
            let isFree = node.attachment.withLock { owner in
                guard owner == nil || owner == engine else { return false }
                owner = engine
                return true
            }
            guard isFree else { throw .attachedElsewhere(node.name) }
            attached.append(node)
            graph.attach(node)
        }

        /// The same as ``AudioEngine/detach(_:)``.
        public mutating func detach(_ node: AudioNode) throws(AudioEngineError) {
            guard graph.nodes[node.id] != nil else { throw .notAttached(node.name) }
            guard !permanent.contains(where: { $0 === node }) else { throw .permanent(node.name) }
            graph.detach(node)
            detached.append(node)
        }

        /// The same as ``AudioEngine/connect(_:to:bus:format:)``.
        public mutating func connect(
            _ source: AudioNode, to destination: AudioNode, bus: Int? = nil, format: AudioFormat? = nil
        ) throws(AudioEngineError) {
            let bus = bus ?? (destination.numberOfInputs == nil ? graph.freeBus(of: destination) : 0)
            try graph.connect(source, bus: 0, to: destination, bus: bus, format: format)
        }

        /// The same as ``AudioEngine/disconnectNodeInput(_:bus:)``.
        public mutating func disconnectNodeInput(_ node: AudioNode, bus: Int? = nil) throws(AudioEngineError) {
            guard graph.nodes[node.id] != nil else { throw .notAttached(node.name) }
            graph.disconnectInput(node, bus: bus)
        }

        /// The same as ``AudioEngine/disconnectNodeOutput(_:bus:)``.
        public mutating func disconnectNodeOutput(_ node: AudioNode, bus: Int? = nil) throws(AudioEngineError) {
            guard graph.nodes[node.id] != nil else { throw .notAttached(node.name) }
            graph.disconnectOutput(node, bus: bus)
        }
    }

    /// Removes echo and noise from the captured sound and evens its level (`AVAudioInputNode.setVoiceProcessingEnabled`).
    ///
    /// The output is the reference for the echo. The delay is ``VoiceProcessingWorker/latency``, about 26 ms; each change of the
    /// options crossfades. If voice processing is impossible or its output invalid, the plain input is heard, and
    /// ``AudioInputNode/voiceProcessingError`` has the reason.
    /// - Parameter options: nil for the plain input.
    public func setVoiceProcessing(_ options: VoiceProcessingOptions?) {
        inputNode.setVoiceProcessing(options)
        state.withLock { $0.isDirty = true }
        wakeup.handle.wake()
    }

    /// The attached nodes, including the engine's own.
    package var attachedNodes: [AudioNode] {
        state.withLock { $0.graph.nodes.values.sorted { $0.id < $1.id } }
    }

    /// Passes a node's output to a block, about `bufferSize` frames at a time, on the engine's own thread. The thread that pauses
    /// or stops the engine passes the last frames.
    ///
    /// A node has one tap; a second one replaces it. In manual rendering the block is called from
    /// ``renderOffline(_:frameCount:input:)``.
    public func installTap(
        on node: AudioNode, bufferSize: Int = 4096, block: @escaping AudioTapBlock
    ) throws(AudioEngineError) {
        let tap = NodeTap(frameCount: bufferSize, wakeup: wakeup, block: block)
        let isAttached = state.withLock { state in
            guard state.graph.nodes[node.id] != nil else { return false }
            node.tap = tap
            state.isDirty = true
            return true
        }
        guard isAttached else { throw .notAttached(node.name) }
        wakeup.handle.wake()
    }

    /// Removes a node's tap and discards the frames that it has not delivered yet. To deliver them, call ``flushTaps()`` first.
    public func removeTap(from node: AudioNode) {
        state.withLock { state in
            guard node.tap != nil else { return }
            node.tap = nil
            state.isDirty = true
        }
        wakeup.handle.wake()
    }
}
