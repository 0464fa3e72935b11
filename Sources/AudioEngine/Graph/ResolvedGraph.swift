// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A graph with resolved formats and nodes in rendering order.
struct ResolvedGraph {
    struct Connection: Hashable {
        var source: Endpoint
        var destination: Endpoint
        /// The formats of source and destination; a conversion joins them if they differ.
        var from: AudioFormat
        var to: AudioFormat
    }

    /// The nodes that lead to an output, sources first.
    var order: [AudioNode] = []
    var formats: [Int: NodeFormats] = [:]
    var connections: [Connection] = []

    /// Resolves all formats.
    /// - Parameter isStrict: true to throw for an input without a connection, false to treat it as silence.
    init(_ graph: Graph, engine: EngineFormat, isStrict: Bool) throws(AudioEngineError) {
        let roots = graph.nodes.values.filter { $0.numberOfOutputs == 0 && !graph.inputs(of: $0.id).isEmpty }
        var missing: [String] = []
        for root in roots.sorted(by: { $0.id < $1.id }) {
            try visit(root, graph, engine, &missing)
        }
        if isStrict, !missing.isEmpty { throw .unconnected(missing) }
    }

    private mutating func visit(
        _ node: AudioNode, _ graph: Graph, _ engine: EngineFormat, _ missing: inout [String]
    ) throws(AudioEngineError) {
        guard formats[node.id] == nil else { return }
        let inputs = graph.inputs(of: node.id)
        var given: [Int: AudioFormat] = [:]
        for connection in inputs {
            guard let source = graph.nodes[connection.source.node] else { continue }
            try visit(source, graph, engine, &missing)
            given[connection.destination.bus] = connection.format ?? formats[source.id]?.output
        }
        for bus in 0..<(node.numberOfInputs ?? 0) where given[bus] == nil && !node.isOptional(bus: bus) {
            missing.append((node.numberOfInputs ?? 0) > 1 ? "\(node.name), bus \(bus)" : node.name)
        }
        let agreed = try node.negotiate(given, engine: engine)
        for connection in inputs {
            guard let source = graph.nodes[connection.source.node], let from = formats[source.id]?.output,
                let wanted = agreed.inputs[connection.destination.bus]
            else { continue }
            if let format = connection.format, format != wanted {
                throw .formatMismatch(from: source.name, to: node.name, given: format, wanted: wanted)
            }
            connections.append(
                Connection(source: connection.source, destination: connection.destination, from: from, to: wanted))
        }
        formats[node.id] = agreed
        order.append(node)
    }

    /// Returns both graphs together, for a crossfade; nil if they close a cycle. No node may need new memory.
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
        var waiting: [Int: Int] = [:]
        for connection in connections { waiting[connection.destination.node, default: 0] += 1 }
        var ready = order.filter { waiting[$0.id, default: 0] == 0 }
        let byID = Dictionary(uniqueKeysWithValues: order.map { ($0.id, $0) })
        var result = self
        result.order = []
        while let node = ready.popLast() {
            result.order.append(node)
            for connection in connections where connection.source.node == node.id {
                waiting[connection.destination.node, default: 0] -= 1
                if waiting[connection.destination.node] == 0, let next = byID[connection.destination.node] {
                    ready.append(next)
                }
            }
        }
        return result.order.count == order.count ? result : nil
    }
}
