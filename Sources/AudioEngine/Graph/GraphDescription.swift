// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A path through the graph from one source to one output, and its delay.
public struct AudioPath: Hashable, Sendable {
    /// The names of the nodes from the source to the output.
    public var nodes: [String]
    /// The seconds that nodes and conversions on the path add, without the device's latency.
    public var latency: Double
}

extension AudioEngine: CustomStringConvertible {
    /// The graph as text: one line for each node in rendering order, with its inputs and its delay; then the nodes that are not
    /// in use.
    public var description: String {
        state.withLock { state in
            let order = state.rendering?.order ?? state.graph.nodes.values.sorted { $0.id < $1.id }
            let idle = state.graph.nodes.values.filter { node in !order.contains { $0 === node } }
            let lines = order.map { state.summary($0) } + idle.sorted { $0.id < $1.id }.map { "\($0.name): not in use" }
            return lines.joined(separator: "\n")
        }
    }

    /// The graph in the language of Graphviz's `dot`.
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
                let label = format.map { AudioEngineError.summary($0) } ?? ""
                lines.append("  n\(connection.source.node) -> n\(connection.destination.node) [label=\"\(label)\"];")
            }
            return (lines + ["}"]).joined(separator: "\n")
        }
    }

    private static func escaped(_ name: String) -> String {
        name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }

    /// The paths from sources to outputs of the rendering graph, with their delays; empty while stopped. For each output the
    /// slowest path comes first, and at most ``pathLimit`` are listed.
    public var paths: [AudioPath] {
        state.withLock { state in
            guard let rendering = state.rendering else { return [] }
            let search = PathSearch(state, rendering)
            return rendering.order.filter { $0.numberOfOutputs == 0 }.flatMap { search.paths(to: $0.id) }
        }
    }

    /// The maximum number of paths to one output in ``paths``. In a graph that branches and joins repeatedly, the number of paths
    /// is exponential.
    package static var pathLimit: Int { 1_000 }
}

extension EngineState {
    func summary(_ node: AudioNode) -> String {
        let inputs = graph.inputs(of: node.id).compactMap { connection -> String? in
            guard let source = graph.nodes[connection.source.node] else { return nil }
            let from = rendering?.formats[source.id]?.output
            let to = rendering?.formats[node.id]?.inputs[connection.destination.bus]
            let converted = from != nil && from != to ? to.map { ", as \(AudioEngineError.summary($0))" } ?? "" : ""
            let bus = node.numberOfInputs == 1 ? "" : "\(connection.destination.bus): "
            return "\(bus)\(source.name)\(from.map { " (\(AudioEngineError.summary($0))\(converted))" } ?? "")"
        }
        return "\(node.name)\(remarks(node))" + (inputs.isEmpty ? "" : " ← \(inputs.joined(separator: ", "))")
    }

    /// Returns a node's own delay and bypass as text, such as ` [5.0 ms, bypassed]`; empty if neither applies.
    func remarks(_ node: AudioNode) -> String {
        let delay = delaySeconds(node)
        let words =
            (delay > 0 ? ["\((delay * 100_000).rounded() / 100) ms"] : [])
            + ((node as? AudioUnitEffect)?.bypass == true ? ["bypassed"] : [])
        return words.isEmpty ? "" : " [\(words.joined(separator: ", "))]"
    }

    /// Returns a node's own delay in seconds; 0 while the node does not render.
    fileprivate func delaySeconds(_ node: AudioNode) -> Double {
        guard let formats = rendering?.formats[node.id] else { return 0 }
        return node.latency / formats.sampleRate
    }
}

/// Finds the paths from all sources to a node, at most ``AudioEngine/pathLimit``.
private struct PathSearch {
    private struct Step {
        var source: Int
        /// The seconds from the source's output to the output of the step's node.
        var delay: Double
        /// The seconds of the slowest path that ends with the step.
        var longest: Double
    }

    private var names: [Int: String] = [:]
    /// Each node's own latency in seconds.
    private var ownDelays: [Int: Double] = [:]
    /// The steps that lead to each node, the slowest path first.
    private var steps: [Int: [Step]] = [:]

    init(_ state: borrowing EngineState, _ graph: ResolvedGraph) {
        let incoming = Dictionary(grouping: graph.connections) { $0.destination.node }
        var longest: [Int: Double] = [:]
        // Sources precede the nodes that they feed.
        for node in graph.order {
            let own = state.delaySeconds(node)
            (names[node.id], self.ownDelays[node.id]) = (node.name, own)
            var steps: [Step] = []
            for connection in incoming[node.id] ?? [] {
                guard let before = longest[connection.source.node] else { continue }
                let key = GraphCompiler.ConversionKey(
                    source: connection.source, from: connection.from, to: connection.to)
                let conversion = (state.compiler?.conversions[key]?.latency ?? 0) / connection.to.sampleRate
                steps.append(
                    Step(source: connection.source.node, delay: conversion + own, longest: before + conversion + own))
            }
            self.steps[node.id] = steps.sorted { $0.longest > $1.longest }
            longest[node.id] = steps.map(\.longest).max() ?? own
        }
    }

    func paths(to output: Int) -> [AudioPath] {
        var found: [AudioPath] = []
        /// The nodes from the output back to the present one.
        var path: [Int] = []
        func visit(_ node: Int, _ delay: Double) {
            path.append(node)
            defer { path.removeLast() }
            guard let steps = steps[node], !steps.isEmpty else {
                found.append(
                    AudioPath(nodes: path.reversed().map { names[$0] ?? "" }, latency: delay + (ownDelays[node] ?? 0)))
                return
            }
            for step in steps where found.count < AudioEngine.pathLimit { visit(step.source, delay + step.delay) }
        }
        visit(output, 0)
        return found
    }
}
