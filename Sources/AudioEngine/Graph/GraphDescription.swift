import AudioBase

/// The delay from one source to one output.
public struct AudioPath: Hashable, Sendable {
    /// Nodes from source to output.
    public var nodes: [String]
    /// Seconds that units and conversions on the way take; without the device's own.
    public var latency: Double
}

extension AudioEngine: CustomStringConvertible {
    /// The graph in words: a line a node, in the order of rendering, with what feeds it and its delay.
    public var description: String {
        state.withLock { state in
            let order = state.rendering?.order ?? state.graph.nodes.values.sorted { $0.id < $1.id }
            let idle = state.graph.nodes.values.filter { node in !order.contains { $0 === node } }
            let lines = order.map { state.words($0) } + idle.sorted { $0.id < $1.id }.map { "\($0.name): not in use" }
            return lines.joined(separator: "\n")
        }
    }

    /// The graph for Graphviz's `dot`.
    public var graphviz: String {
        state.withLock { state in
            var lines = [
                "digraph engine {", "  rankdir=LR; node [shape=box, fontname=\"sans-serif\"];",
                "  edge [fontname=\"sans-serif\", fontsize=10];",
            ]
            for node in state.graph.nodes.values.sorted(by: { $0.id < $1.id }) {
                let isUsed = state.rendering.map { $0.formats[node.id] != nil } ?? true
                let label = "\(Self.escaped(node.name))\(state.remarks(node))"
                lines.append("  n\(node.id) [label=\"\(label)\"\(isUsed ? "" : ", style=dashed")];")
            }
            for connection in state.graph.connections.values.sorted(by: {
                ($0.source.node, $0.destination.node, $0.destination.bus)
                    < ($1.source.node, $1.destination.node, $1.destination.bus)
            }) {
                let format = state.rendering?.formats[connection.source.node]?.output
                let label = format.map { AudioEngineError.words($0) } ?? ""
                lines.append("  n\(connection.source.node) -> n\(connection.destination.node) [label=\"\(label)\"];")
            }
            return (lines + ["}"]).joined(separator: "\n")
        }
    }

    private static func escaped(_ name: String) -> String {
        name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }

    /// Every way from a source to an output, with its delay; of the graph as it renders, so empty while stopped.
    public var paths: [AudioPath] {
        state.withLock { state in
            guard let rendering = state.rendering else { return [] }
            return rendering.order.filter { $0.numberOfOutputs == 0 }.flatMap { state.paths(to: $0, rendering) }
        }
    }
}

extension EngineState {
    func words(_ node: AudioNode) -> String {
        let inputs = graph.inputs(of: node.id).compactMap { connection -> String? in
            guard let source = graph.nodes[connection.source.node] else { return nil }
            let from = rendering?.formats[source.id]?.output
            let to = rendering?.formats[node.id]?.inputs[connection.destination.bus]
            let converted = from != nil && from != to ? to.map { ", as \(AudioEngineError.words($0))" } ?? "" : ""
            let bus = node.numberOfInputs == 1 ? "" : "\(connection.destination.bus): "
            return "\(bus)\(source.name)\(from.map { " (\(AudioEngineError.words($0))\(converted))" } ?? "")"
        }
        return "\(node.name)\(remarks(node))" + (inputs.isEmpty ? "" : " ← \(inputs.joined(separator: ", "))")
    }

    /// A node's own delay, and whether it is bypassed.
    func remarks(_ node: AudioNode) -> String {
        let delay = seconds(node)
        let words =
            (delay > 0 ? ["\((delay * 100_000).rounded() / 100) ms"] : [])
            + ((node as? AudioUnitEffect)?.bypass == true ? ["bypassed"] : [])
        return words.isEmpty ? "" : " [\(words.joined(separator: ", "))]"
    }

    /// A node's own delay.
    private func seconds(_ node: AudioNode) -> Double {
        guard let formats = rendering?.formats[node.id] else { return 0 }
        return node.latency / formats.sampleRate
    }

    fileprivate func paths(to node: AudioNode, _ graph: ResolvedGraph) -> [AudioPath] {
        let incoming = graph.connections.filter { $0.destination.node == node.id }
        guard !incoming.isEmpty else { return [AudioPath(nodes: [node.name], latency: seconds(node))] }
        return incoming.flatMap { connection -> [AudioPath] in
            guard let source = graph.order.first(where: { $0.id == connection.source.node }) else { return [] }
            let key = GraphCompiler.ConversionKey(
                source: connection.source, from: connection.from, to: connection.to)
            let conversion = (compiler?.conversions[key]?.latency ?? 0) / connection.to.sampleRate
            return paths(to: source, graph).map {
                AudioPath(nodes: $0.nodes + [node.name], latency: $0.latency + conversion + seconds(node))
            }
        }
    }
}
