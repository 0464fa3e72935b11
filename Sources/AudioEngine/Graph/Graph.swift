// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// An input or output bus of a node; `node` is the node's `id`.
struct Endpoint: Hashable {
    var node: Int
    var bus: Int
}

/// The nodes by their `id`, and their connections. A method that throws leaves the graph unchanged.
struct Graph {
    /// A connection from an output to an input, with the format that the caller requires, if any.
    struct Connection: Hashable {
        var source: Endpoint
        var destination: Endpoint
        var format: AudioFormat?
    }

    private(set) var nodes: [Int: AudioNode] = [:]
    /// The connections by their destination: an input has at most one connection, an output any number.
    private(set) var connections: [Endpoint: Connection] = [:]

    mutating func attach(_ node: AudioNode) { nodes[node.id] = node }

    mutating func detach(_ node: AudioNode) {
        nodes[node.id] = nil
        connections = connections.filter { $0.key.node != node.id && $0.value.source.node != node.id }
    }

    mutating func connect(
        _ source: AudioNode, bus sourceBus: Int, to destination: AudioNode, bus: Int, format: AudioFormat?
    ) throws(AudioEngineError) {
        for node in [source, destination] where nodes[node.id] == nil { throw .notAttached(node.name) }
        guard source.numberOfOutputs > 0 else { throw .noOutput(source.name) }
        guard sourceBus >= 0, sourceBus < source.numberOfOutputs else {
            throw .noSuchBus(node: source.name, bus: sourceBus, count: source.numberOfOutputs)
        }
        if let count = destination.numberOfInputs {
            guard count > 0 else { throw .noInput(destination.name) }
            guard bus >= 0, bus < count else { throw .noSuchBus(node: destination.name, bus: bus, count: count) }
        } else if !(0..<Self.busLimit).contains(bus) {
            throw .noSuchBus(node: destination.name, bus: bus, count: Self.busLimit)
        }
        let end = Endpoint(node: destination.id, bus: bus)
        var next = self
        next.connections[end] = Connection(
            source: Endpoint(node: source.id, bus: sourceBus), destination: end, format: format)
        if let cycle = next.cycle() { throw .cycle(cycle) }
        self = next
    }

    /// The maximum number of inputs of a mixer.
    static let busLimit = 256

    mutating func disconnectInput(_ node: AudioNode, bus: Int?) {
        connections = connections.filter { $0.key.node != node.id || (bus != nil && $0.key.bus != bus) }
    }

    mutating func disconnectOutput(_ node: AudioNode, bus: Int?) {
        connections = connections.filter {
            $0.value.source.node != node.id || (bus != nil && $0.value.source.bus != bus)
        }
    }

    /// Returns the connections to a node, ordered by input bus.
    func inputs(of node: Int) -> [Connection] {
        connections.values.filter { $0.destination.node == node }.sorted { $0.destination.bus < $1.destination.bus }
    }

    /// Returns the node's first input bus without a connection.
    func freeBus(of node: AudioNode) -> Int {
        var bus = 0
        while connections[Endpoint(node: node.id, bus: bus)] != nil { bus += 1 }
        return bus
    }

    /// Returns the names of the nodes in a cycle, with the first name repeated at the end; nil if there is no cycle.
    func cycle() -> [String]? {
        var finishedNodes: Set<Int> = []
        var path: [Int] = []
        func visit(_ node: Int) -> [Int]? {
            if let start = path.firstIndex(of: node) { return Array(path[start...]) + [node] }
            if finishedNodes.contains(node) { return nil }
            path.append(node)
            for connection in inputs(of: node) {
                if let found = visit(connection.source.node) { return found }
            }
            path.removeLast()
            finishedNodes.insert(node)
            return nil
        }
        for node in nodes.keys.sorted() {
            if let found = visit(node) { return found.reversed().compactMap { nodes[$0]?.name } }
        }
        return nil
    }
}
