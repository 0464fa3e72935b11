// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A graph with resolved formats and nodes in rendering order.
struct ResolvedGraph {
    struct Connection: Hashable {
        var source: Endpoint
        var destination: Endpoint
        /// The format of the source's output; if ``to`` differs, a conversion joins them.
        var from: AudioFormat
        var to: AudioFormat
    }

    /// The nodes that lead to an output; each node follows the nodes that feed it.
    var order: [AudioNode] = []
    var formats: [Int: NodeFormats] = [:]
    var connections: [Connection] = []

    /// Resolves the formats of all nodes that lead to an output.
    /// - Parameter isStrict: true to throw for an input without a connection, false to treat it as silence.
    init(_ graph: Graph, engine: EngineFormat, isStrict: Bool) throws(AudioEngineError) {
        let roots = graph.nodes.values.filter { $0.numberOfOutputs == 0 && !graph.inputs(of: $0.id).isEmpty }
        var unconnectedInputs: [String] = []
        for root in roots.sorted(by: { $0.id < $1.id }) {
            try visit(root, graph, engine, &unconnectedInputs)
        }
        if isStrict, !unconnectedInputs.isEmpty { throw .unconnected(unconnectedInputs) }
    }

    private mutating func visit(
        _ node: AudioNode, _ graph: Graph, _ engine: EngineFormat, _ unconnectedInputs: inout [String]
    ) throws(AudioEngineError) {
        guard formats[node.id] == nil else { return }
        let inputs = graph.inputs(of: node.id)
        var inputFormats: [Int: AudioFormat] = [:]
        for connection in inputs {
            guard let source = graph.nodes[connection.source.node] else { continue }
            try visit(source, graph, engine, &unconnectedInputs)
            inputFormats[connection.destination.bus] = connection.format ?? formats[source.id]?.output
        }
        for bus in 0..<(node.numberOfInputs ?? 0) where inputFormats[bus] == nil && !node.isOptional(bus: bus) {
            unconnectedInputs.append((node.numberOfInputs ?? 0) > 1 ? "\(node.name), bus \(bus)" : node.name)
        }
        let nodeFormats = try node.negotiate(inputFormats, engine: engine)
        for connection in inputs {
            guard let source = graph.nodes[connection.source.node], let from = formats[source.id]?.output,
                let wanted = nodeFormats.inputs[connection.destination.bus]
            else { continue }
            if let format = connection.format, format != wanted {
                throw .formatMismatch(from: source.name, to: node.name, given: format, wanted: wanted)
            }
            connections.append(
                Connection(source: connection.source, destination: connection.destination, from: from, to: wanted))
        }
        formats[node.id] = nodeFormats
        order.append(node)
    }

    /// Returns the nodes and connections of both graphs, for a crossfade; nil if the connections close a cycle. Each node must be
    /// able to keep its memory.
    func union(_ other: ResolvedGraph) -> ResolvedGraph? {
        var all = self
        for node in other.order where formats[node.id] == nil { all.order.append(node) }
        all.formats.merge(other.formats) { _, other in other }
        let known = Set(connections)
        all.connections += other.connections.filter { !known.contains($0) }
        return all.sorted()
    }

    /// Returns the graph in rendering order; nil if the connections close a cycle.
    private func sorted() -> ResolvedGraph? {
        var pendingInputCounts: [Int: Int] = [:]
        for connection in connections { pendingInputCounts[connection.destination.node, default: 0] += 1 }
        var ready = order.filter { pendingInputCounts[$0.id, default: 0] == 0 }
        let byID = Dictionary(uniqueKeysWithValues: order.map { ($0.id, $0) })
        var result = self
        result.order = []
        while let node = ready.popLast() {
            result.order.append(node)
            for connection in connections where connection.source.node == node.id {
                pendingInputCounts[connection.destination.node, default: 0] -= 1
                if pendingInputCounts[connection.destination.node] == 0, let next = byID[connection.destination.node] {
                    ready.append(next)
                }
            }
        }
        return result.order.count == order.count ? result : nil
    }
}
