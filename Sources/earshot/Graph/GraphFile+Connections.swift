// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import EarshotTOMLReader

extension GraphFile {
    func connection(_ value: TOMLValue) throws(GraphFileError) -> Connection {
        var fields = try GraphFields(
            value, what: "a connection", file: path,
            allowed: ["from", "to", "bus", "volume", "pan", "mute", "solo", "position", "parameters"])
        fields.place = value.place
        let from = try known(fields.required("from", example: exampleSource))
        let to = try known(fields.required("to", example: Self.mainMixer))
        let fromPlace = fields.entry("from")?.value.place ?? fields.place
        let toPlace = fields.entry("to")?.value.place ?? fields.place
        if case .output = from.kind {
            throw fields.error("'output' is the end of the graph; connect from another node", at: fromPlace)
        }
        if to.kind.inputCount == 0 {
            throw fields.error("'\(to.name)' is a source and has no input", at: toPlace)
        }
        let bus = try fields.integer("bus", in: 0...(to.kind.inputCount.map { $0 - 1 } ?? 255))
        var result = Connection(
            from: from.name, to: to.name, bus: try self.bus(bus, of: to, fields, toPlace), place: fields.place)
        for key in ["volume", "pan", "mute", "solo"] where !to.kind.isMixer {
            if let entry = fields.entry(key) {
                throw fields.error("'\(key)' is for inputs of mixers; '\(to.name)' is not a mixer", at: entry.place)
            }
        }
        for key in ["position", "parameters"] where !to.kind.isEnvironment {
            if let entry = fields.entry(key) {
                throw fields.error(
                    "'\(key)' is for inputs of environments; '\(to.name)' is not an environment", at: entry.place)
            }
        }
        result.volume = try fields.number("volume", in: 0...8).map { Float($0) }
        result.pan = try fields.number("pan", in: -1...1).map { Float($0) }
        result.mute = try fields.boolean("mute") ?? false
        result.solo = try fields.boolean("solo") ?? false
        result.position = try fields.point("position")
        result.values = try fields.parameters("parameters", of: UnitType.spatializer.description)
        return result
    }

    /// An example of a node to connect from, for messages.
    private var exampleSource: String {
        nodes.first { ![Self.mainMixer, Self.output].contains($0.name) }?.name ?? "voice"
    }

    /// Returns the node with a name from the file. Throws an error at the name's place if there is none.
    func known(_ name: (text: String, place: SourcePlace)) throws(GraphFileError) -> Node {
        if let node = node(name.text) { return node }
        let names = nodes.map(\.name)
        let near = suggestion(name.text, in: names)
        throw GraphFileError(
            file: path, place: name.place,
            problem: "there is no node '\(name.text)'"
                + (near.isEmpty ? "; nodes: \(names.map { "'\($0)'" }.joined(separator: ", "))" : near))
    }

    /// Returns the requested bus, or the first free bus if none is requested. Throws if the bus is in use or no bus is free.
    private func bus(
        _ requestedBus: Int?, of node: Node, _ fields: GraphFields, _ place: SourcePlace
    ) throws(GraphFileError) -> Int {
        let existing = connections.filter { $0.to == node.name }
        if let count = node.kind.inputCount, existing.count >= count, let first = existing.first {
            throw fields.error(
                "'\(node.name)' is already connected from '\(first.from)' (line \(first.place.line)); use a mixer to add signals",
                at: place)
        }
        if let requestedBus {
            guard let other = existing.first(where: { $0.bus == requestedBus }) else { return requestedBus }
            throw fields.error(
                "bus \(requestedBus) of '\(node.name)' is used by '\(other.from)' (line \(other.place.line)); omit 'bus' to use a free one",
                at: fields.entry("bus")?.place ?? place)
        }
        guard let free = (0..<256).first(where: { bus in !existing.contains { $0.bus == bus } }) else {
            throw fields.error("'\(node.name)' already has 256 inputs; put a mixer before it", at: place)
        }
        return free
    }

    /// Throws if the connections form a loop, or if a node is not on a path from a source to the output. The main mixer may be
    /// unused.
    func checkConnections() throws(GraphFileError) {
        func fail(_ problem: String, _ place: SourcePlace) -> GraphFileError {
            GraphFileError(file: path, place: place, problem: problem)
        }
        let ends = [Self.mainMixer, Self.output]
        guard connections.contains(where: { ends.contains($0.to) }) else {
            throw fail(
                "nothing is connected to 'main mixer'; end the graph with [[connections]], from = \"\(exampleSource)\", to = \"main mixer\"",
                .start)
        }
        for node in nodes where !ends.contains(node.name) {
            if node.kind.inputCount != 0, !connections.contains(where: { $0.to == node.name }) {
                throw fail("nothing is connected to '\(node.name)'; connect a source to it, or remove it", node.place)
            }
        }
        if let ring = ring() {
            throw fail(
                "\(ring.names.joined(separator: " → ")) is a loop; remove one of these connections", ring.place)
        }
        var heardNodes: Set<String> = [Self.output]
        if !connections.contains(where: { $0.to == Self.output }) { heardNodes.insert(Self.mainMixer) }
        var nodesToVisit = Array(heardNodes)
        while let next = nodesToVisit.popLast() {
            for connection in connections where connection.to == next && heardNodes.insert(connection.from).inserted {
                nodesToVisit.append(connection.from)
            }
        }
        for node in nodes where !heardNodes.contains(node.name) {
            if node.name == Self.mainMixer, !connections.contains(where: { $0.to == Self.mainMixer }) { continue }
            throw fail(
                "'\(node.name)' does not lead to the output; connect it to 'main mixer' or remove it", node.place)
        }
    }

    /// Returns the names of the nodes in a loop of connections, and the place of the connection that closes the loop; nil if
    /// there is no loop. The first name is repeated at the end.
    private func ring() -> (names: [String], place: SourcePlace)? {
        var done: Set<String> = []
        var visitPath: [String] = []
        func visit(_ name: String) -> (names: [String], place: SourcePlace)? {
            visitPath.append(name)
            for connection in connections where connection.from == name && !done.contains(connection.to) {
                if let start = visitPath.firstIndex(of: connection.to) {
                    return (Array(visitPath[start...]) + [connection.to], connection.place)
                }
                if let found = visit(connection.to) { return found }
            }
            visitPath.removeLast()
            done.insert(name)
            return nil
        }
        for node in nodes where !done.contains(node.name) {
            if let found = visit(node.name) { return found }
        }
        return nil
    }
}
