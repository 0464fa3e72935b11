// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Compiles resolved graphs into programs: ordered steps, reused buffers, conversions and fades. For the control thread, under
/// the engine's lock.
struct GraphCompiler {
    /// Identifies a conversion by its source output and both formats. Conversions are kept from program to program, like the
    /// nodes' states.
    struct ConversionKey: Hashable {
        var source: Endpoint
        var from: AudioFormat
        var to: AudioFormat
    }

    let engine: EngineFormat
    private(set) var conversions: [ConversionKey: RenderMemory<ConversionState>] = [:]
    /// The length of a fade in frames at the engine's rate.
    var fadeFrameCount: Int { max(1, Int(engine.sampleRate * 0.02)) }

    init(engine: EngineFormat) { self.engine = engine }

    /// Returns the program that renders a graph.
    /// - Parameters:
    ///   - fades: the connections that fade in or out.
    ///   - hold: the frames before the fades begin, at the engine's rate.
    mutating func program(
        _ graph: ResolvedGraph, fades: [ResolvedGraph.Connection: FadeMixState.Fade] = [:], hold: Int = 0
    ) throws(AudioEngineError) -> RenderProgram {
        var draft = ProgramDraft(graph, engine: engine, fades: fades, fade: (hold, fadeFrameCount))
        for node in graph.order { try draft.add(node, &conversions) }
        return draft.finish()
    }

    /// Plans the change from one graph to another without a click: a crossfade if both graphs can render together, otherwise a
    /// fade-out and a fade-in.
    mutating func plan(from old: ResolvedGraph, to new: ResolvedGraph) throws(AudioEngineError) -> RenderPlan {
        let before = Set(old.connections)
        let after = Set(new.connections)
        // The nodes whose state must be rebuilt, because it does not suit their new formats.
        let changedNodes = Set(
            new.order.filter { node in
                guard let formats = new.formats[node.id], old.formats[node.id] != nil else { return false }
                return !node.keepsState(formats, engineRate: engine.sampleRate)
            }.map(\.id))
        func touchesChangedNode(_ connection: ResolvedGraph.Connection) -> Bool {
            changedNodes.contains(connection.source.node) || changedNodes.contains(connection.destination.node)
        }
        let removedConnections = before.filter { !after.contains($0) || touchesChangedNode($0) }
        let addedConnections = after.filter { !before.contains($0) || touchesChangedNode($0) }
        guard !removedConnections.isEmpty || !addedConnections.isEmpty else {
            return RenderPlan(final: try program(new))
        }
        let fadesOut = Dictionary(uniqueKeysWithValues: removedConnections.map { ($0, FadeMixState.Fade.fadingOut) })
        let fadesIn = Dictionary(uniqueKeysWithValues: addedConnections.map { ($0, FadeMixState.Fade.fadingIn) })
        if changedNodes.isEmpty, let unionGraph = old.union(new) {
            let fades = fadesOut.merging(fadesIn) { _, new in new }
            let final = try program(new)
            let hold = warmUpFrameCount(from: old, to: new)
            let transition = try program(unionGraph, fades: fades, hold: hold)
            return RenderPlan(transitions: [(transition, hold + fadeFrameCount)], final: final)
        }
        // The old graph is compiled first: it uses the present memory of the nodes, which the compilation of the new graph may
        // replace.
        let fadeOutProgram = try program(old, fades: fadesOut)
        let final = try program(new)
        let hold = warmUpFrameCount(from: old, to: new)
        let fadeInProgram = try program(new, fades: fadesIn, hold: hold)
        return RenderPlan(
            transitions: [(fadeOutProgram, fadeFrameCount), (fadeInProgram, hold + fadeFrameCount)], final: final)
    }

    /// Returns the frames until the new nodes and conversions give sound, at most one second. The new sound fades in only then,
    /// because the end of the initial silence would click during the fade.
    private func warmUpFrameCount(from old: ResolvedGraph, to new: ResolvedGraph) -> Int {
        var seconds = 0.0
        for node in new.order where old.formats[node.id] != new.formats[node.id] {
            guard let rate = new.formats[node.id]?.sampleRate else { continue }
            seconds += (node.currentState?.latency ?? 0) / rate
        }
        let before = Set(old.connections)
        for connection in new.connections where connection.from != connection.to && !before.contains(connection) {
            let key = ConversionKey(source: connection.source, from: connection.from, to: connection.to)
            seconds += (conversions[key]?.latency ?? 0) / connection.to.sampleRate
        }
        return Int(min(1, seconds) * engine.sampleRate)
    }

    /// Discards conversions that a graph does not use.
    mutating func prune(to graph: ResolvedGraph) {
        let used = Set(graph.connections.map { ConversionKey(source: $0.source, from: $0.from, to: $0.to) })
        conversions = conversions.filter { used.contains($0.key) }
    }
}

/// A render program under construction.
struct ProgramDraft {
    private let graph: ResolvedGraph
    private let engine: EngineFormat
    private let fades: [ResolvedGraph.Connection: FadeMixState.Fade]
    /// The frames before a fade begins (`hold`) and the frames of the fade (`length`), at the engine's rate.
    private let fade: (hold: Int, length: Int)
    private var steps: [RenderProgram.Draft] = []
    private var domainRates: [Int64]
    private var retainedObjects: [AnyObject] = []
    private var buffers: ProgramBuffers
    private var outputs: [Int: ProgramBuffers.Lease] = [:]
    private var convertedLeases: [GraphCompiler.ConversionKey: ProgramBuffers.Lease] = [:]

    init(
        _ graph: ResolvedGraph, engine: EngineFormat, fades: [ResolvedGraph.Connection: FadeMixState.Fade],
        fade: (hold: Int, length: Int)
    ) {
        self.graph = graph
        self.engine = engine
        self.fades = fades
        self.fade = fade
        domainRates = [Int64(engine.sampleRate.rounded())]
        buffers = ProgramBuffers(engineRate: engine.sampleRate)
    }

    mutating func add(
        _ node: AudioNode, _ conversions: inout [GraphCompiler.ConversionKey: RenderMemory<ConversionState>]
    ) throws(AudioEngineError) {
        guard let formats = graph.formats[node.id] else { return }
        let domain = domain(of: formats.sampleRate)
        let incoming = Dictionary(grouping: graph.connections.filter { $0.destination.node == node.id }) {
            $0.destination.bus
        }
        var inputs: [ProgramBuffers.Lease] = []
        let buses = incoming.keys.sorted()
        for bus in buses {
            let leases = incoming[bus, default: []].map { ($0, lease($0, &conversions)) }
            inputs.append(mixConnections(leases, domain: domain))
        }
        let state = try node.state(formats, buses: buses, engineRate: engine.sampleRate)
        retainedObjects.append(state)
        var output: ProgramBuffers.Lease?
        if node.numberOfOutputs > 0 {
            let consumers = consumers(of: node.id)
            if node.worksInPlace, inputs.count == 1, inputs[0].isLast, inputs[0].format == formats.output {
                output = inputs[0].handedOn(consumers: consumers)
            } else {
                output = buffers.lease(formats.output, consumers: consumers)
            }
        }
        emit(state, inputs.map(\.bus), output.map { [$0.bus] } ?? [], domain)
        for input in inputs where output == nil || input !== output { buffers.release(input) }
        if let output {
            if let tap = node.tap {
                let listening = tap.state(formats.output)
                retainedObjects.append(listening)
                emit(listening, [output.bus], [], domain)
            }
            outputs[node.id] = output
            if output.consumers == 0 { buffers.release(output) }
        }
    }

    /// Returns the buffer of a connection's samples in the destination's format: the source's buffer, or the conversion's.
    private mutating func lease(
        _ connection: ResolvedGraph.Connection,
        _ conversions: inout [GraphCompiler.ConversionKey: RenderMemory<ConversionState>]
    ) -> ProgramBuffers.Lease {
        guard let source = outputs[connection.source.node] else { preconditionFailure("rendered out of order") }
        guard connection.from != connection.to else { return source }
        let key = GraphCompiler.ConversionKey(source: connection.source, from: connection.from, to: connection.to)
        if let existing = convertedLeases[key] { return existing }
        let state =
            conversions[key]
            ?? {
                let conversion = ConversionState(
                    from: connection.from, to: connection.to,
                    slice: buffers.capacity(max(connection.from.sampleRate, connection.to.sampleRate)))
                let latency = conversion.latency
                return RenderMemory(conversion, latency: latency, function: ConversionState.write)
            }()
        conversions[key] = state
        retainedObjects.append(state)
        emit(state, [source.bus], [], domain(of: connection.from.sampleRate))
        let result = buffers.lease(connection.to, consumers: users(of: key))
        steps.append(
            RenderProgram.Draft(
                function: ConversionState.read, state: state.pointer, inputs: [], outputs: [result.bus],
                domain: domain(of: connection.to.sampleRate)))
        buffers.release(source)
        convertedLeases[key] = result
        return result
    }

    /// Returns the buffer of a single connection that does not fade; otherwise emits a step that fades and adds the connections.
    /// The sum has the greatest channel count of the connections, because a conversion of channels would discard resampler
    /// history.
    private mutating func mixConnections(
        _ leases: [(ResolvedGraph.Connection, ProgramBuffers.Lease)], domain: Int
    ) -> ProgramBuffers.Lease {
        if leases.count == 1, fades[leases[0].0] == nil { return leases[0].1 }
        let ratio = Double(domainRates[domain]) / engine.sampleRate
        let fadeMix = FadeMixState(
            leases.map { fades[$0.0] ?? .steady }, hold: Int(Double(fade.hold) * ratio),
            length: Int(Double(fade.length) * ratio))
        let state = RenderMemory(fadeMix, function: FadeMixState.function)
        retainedObjects.append(state)
        let formats = leases.map(\.0.to)
        let widestFormat = formats.max { $0.channelCount < $1.channelCount } ?? formats[0]
        let sum = buffers.lease(widestFormat, consumers: 1)
        emit(state, leases.map(\.1.bus), [sum.bus], domain)
        for (_, lease) in leases { buffers.release(lease) }
        return sum
    }

    private mutating func emit(_ state: RenderState, _ inputs: [RenderBus], _ outputs: [RenderBus], _ domain: Int) {
        steps.append(
            RenderProgram.Draft(
                function: state.function, state: state.pointer, inputs: inputs, outputs: outputs, domain: domain))
    }

    private mutating func domain(of rate: Double) -> Int {
        let roundedRate = Int64(rate.rounded())
        if let known = domainRates.firstIndex(of: roundedRate) { return known }
        domainRates.append(roundedRate)
        return domainRates.count - 1
    }

    /// Returns the number of steps that read a node's output. A conversion counts once, for any number of connections behind it.
    private func consumers(of node: Int) -> Int {
        let outgoing = graph.connections.filter { $0.source.node == node }
        let directCount = outgoing.filter { $0.from == $0.to }.count
        return directCount + Set(outgoing.filter { $0.from != $0.to }.map(\.to)).count
    }

    private func users(of key: GraphCompiler.ConversionKey) -> Int {
        graph.connections.filter { $0.source == key.source && $0.from == key.from && $0.to == key.to }.count
    }

    func finish() -> RenderProgram { RenderProgram(steps, rates: domainRates, keeping: retainedObjects + buffers.all) }
}

/// The buffers of a program, each reused after its last reader.
struct ProgramBuffers {
    final class Lease {
        let bus: RenderBus
        let format: AudioFormat
        private(set) var consumers: Int
        private var finishedReaderCount = 0

        init(_ bus: RenderBus, _ format: AudioFormat, consumers: Int) {
            self.bus = bus
            self.format = format
            self.consumers = consumers
        }

        /// True if exactly one reader has not finished.
        var isLast: Bool { finishedReaderCount == consumers - 1 }
        /// Counts a reader as finished. Returns true if no reader remains.
        func finish() -> Bool {
            finishedReaderCount += 1
            return finishedReaderCount >= consumers
        }
        /// Returns this lease, now for the output of the buffer's last reader, which works in place.
        func handedOn(consumers: Int) -> Lease {
            self.consumers = consumers
            finishedReaderCount = 0
            return self
        }
    }

    private final class Memory {
        let buffer: AudioBuffer
        let silent = UnsafeMutablePointer<Bool>.allocate(capacity: 1)
        init(_ format: AudioFormat, _ capacity: Int) {
            buffer = AudioBuffer(channelCount: format.channelCount, frameCapacity: capacity)
            silent.initialize(to: true)
        }
        deinit { silent.deallocate() }
    }

    private let engineRate: Double
    private var free: [AudioFormat: [RenderBus]] = [:]
    private var memories: [Memory] = []

    init(engineRate: Double) { self.engineRate = engineRate }

    var all: [AnyObject] { memories }

    /// Returns the maximum frames of a slice at a sample rate in hertz.
    func capacity(_ rate: Double) -> Int {
        Int((Double(RenderProgram.sliceFrameCount) * rate / engineRate).rounded(.up)) + 2
    }

    mutating func lease(_ format: AudioFormat, consumers: Int) -> Lease {
        if let bus = free[format]?.popLast() { return Lease(bus, format, consumers: consumers) }
        let memory = Memory(format, capacity(format.sampleRate))
        memories.append(memory)
        return Lease(RenderBus(memory.buffer.channels, silent: memory.silent), format, consumers: consumers)
    }

    mutating func release(_ lease: Lease) {
        if lease.finish() { free[lease.format, default: []].append(lease.bus) }
    }
}
