// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import EarshotTOMLReader

extension GraphFile {
    private static let mixerInputUnit = UnitDescription(
        component: AudioComponentDescription(type: .mixer, subtype: "mixer", manufacturer: "earshot"), name: "Mixer",
        summary: "",
        parameters: [
            UnitParameter("volume", "Volume", .generic, 0...8, default: 1),
            UnitParameter("pan", "Pan", .pan, -1...1, default: 0),
        ])

    func change(_ value: TOMLValue) throws(GraphFileError) -> Change {
        var fields = try GraphFields(
            value, what: "an automation", file: path,
            allowed: ["node", "input", "parameter", "time", "value", "ramp"])
        fields.place = value.place
        let node = try known(fields.required("node", example: nodes.first?.name ?? "eq"))
        let input = try fields.string("input")
        let parameters = try parameters(of: node, input: input != nil, fields)
        let name = try fields.required("parameter", example: parameters.first?.identifier ?? "volume")
        guard let parameter = parameters.first(where: { $0.identifier == name.text }) else {
            let names = parameters.map(\.identifier)
            let near = suggestion(name.text, in: names)
            throw fields.error(
                "'\(node.name)' has no parameter '\(name.text)'"
                    + (near.isEmpty ? "; supported: \(names.joined(separator: ", "))" : near), at: name.place)
        }
        guard let valueEntry = fields.entry("value") else { throw fields.error("an automation needs 'value'") }
        return Change(
            node: node.name,
            buses: try input.map { input throws(GraphFileError) in try buses(node, input, fields) } ?? [],
            parameter: parameter.identifier, time: try fields.number("time", in: 0...Self.longest, "s") ?? 0,
            value: try fields.value(valueEntry.value, of: parameter, unit: "'\(node.name)'"),
            ramp: try fields.number("ramp", in: 0...Self.longest, "s") ?? 0.02, place: fields.place)
    }

    private func parameters(
        of node: Node, input hasInput: Bool, _ fields: GraphFields
    ) throws(GraphFileError) -> [UnitParameter] {
        if hasInput {
            if node.kind.isMixer { return Self.mixerInputUnit.parameters }
            if node.kind.isEnvironment { return UnitType.spatializer.description.parameters }
            throw fields.error(
                "'input' is for mixers and environments; '\(node.name)' is neither", at: fields.entry("input")?.place)
        }
        switch node.kind {
        case .unit(let unit, _, _, _): return unit.description.parameters
        case .mixer, .mainMixer: return [Self.mixerInputUnit.parameters[0]]
        case .environment:
            throw fields.error("an environment's parameters belong to its inputs; use input = \"NODE\"")
        case .player, .converter, .output:
            throw fields.error("'\(node.name)' has no parameters to automate", at: fields.entry("node")?.value.place)
        }
    }

    private func buses(
        _ node: Node, _ input: (text: String, place: SourcePlace), _ fields: GraphFields
    ) throws(GraphFileError) -> [Int] {
        let source = try known(input)
        let buses = connections.filter { $0.to == node.name && $0.from == source.name }.map(\.bus)
        guard !buses.isEmpty else {
            let names = connections.filter { $0.to == node.name }.map { "'\($0.from)'" }
            throw fields.error(
                "'\(source.name)' is not connected to '\(node.name)'"
                    + (names.isEmpty ? "" : "; its inputs: \(names.joined(separator: ", "))"),
                at: input.place)
        }
        return buses
    }
}
