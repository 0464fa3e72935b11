// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioPlugIns
import EarshotTOMLReader

extension GraphFile {
    /// The values of a node's field `type` that are not subtypes of units.
    private static let otherTypes = ["player", "mixer", "environment", "converter", "plugin"]

    func node(_ entry: TOMLValue.Entry, _ plugIns: PlugInCatalog) throws(GraphFileError) -> Node {
        let name = entry.key
        func fail(_ problem: String, _ place: SourcePlace) -> GraphFileError {
            GraphFileError(file: path, place: place, problem: problem)
        }
        if name == Self.mainMixer { return try mainMixer(entry) }
        if name == Self.output {
            throw fail("'output' always exists; set its rate and channels in [output]", entry.place)
        }
        guard !name.isEmpty else { throw fail("a node needs a name, such as [nodes.voice]", entry.place) }
        guard case .table(let fields) = entry.value.content else {
            throw fail("node '\(name)' must be a table with a type, not \(entry.value.kind)", entry.value.place)
        }
        let types = Self.otherTypes + UnitType.all.compactMap(\.description.component.subtype)
        guard let type = fields.first(where: { $0.key == "type" }) else {
            throw fail("node '\(name)' needs a type, such as type = \"player\"", entry.place)
        }
        guard case .string(let word) = type.value.content else {
            throw fail("'type' must be a string in quotes, not \(type.value.kind)", type.value.place)
        }
        guard types.contains(word) else {
            let near = suggestion(word, in: types)
            throw fail(
                "there is no node type '\(word)'"
                    + (near.isEmpty ? "; supported: \(types.sorted().joined(separator: ", "))" : near),
                type.value.place)
        }
        return Node(name: name, place: entry.place, kind: try kind(word, entry, plugIns))
    }

    private func mainMixer(_ entry: TOMLValue.Entry) throws(GraphFileError) -> Node {
        let fields = try GraphFields(entry.value, what: "the main mixer", file: path, allowed: ["volume"])
        let volume = try fields.number("volume", in: 0...8) ?? 1
        return Node(name: entry.key, place: entry.place, kind: .mainMixer(volume: Float(volume)))
    }

    private func kind(
        _ type: String, _ entry: TOMLValue.Entry, _ plugIns: PlugInCatalog
    ) throws(GraphFileError) -> Kind {
        let what = "\(type) '\(entry.key)'"
        func fields(_ more: [String]) throws(GraphFileError) -> GraphFields {
            var fields = try GraphFields(entry.value, what: what, file: path, allowed: ["type"] + more)
            fields.place = entry.place
            return fields
        }
        switch type {
        case "player":
            return .player(
                try player(
                    fields(["input", "file", "start", "skip", "duration", "loop", "rate", "channels"]), what))
        case "mixer":
            let fields = try fields(["channels", "volume"])
            let volume = try fields.number("volume", in: 0...8) ?? 1
            return .mixer(channels: try fields.integer("channels", in: 1...32), volume: Float(volume))
        case "environment":
            let fields = try fields(["listener"])
            return .environment(try listener(fields))
        case "converter":
            let fields = try fields(["rate", "channels"])
            guard fields.entry("rate") != nil || fields.entry("channels") != nil else {
                throw fields.error("\(what) needs 'rate' or 'channels', such as channels = 2")
            }
            return .converter(
                rate: try fields.rate("rate"),
                channels: try fields.integer("channels", in: 1...32))
        case "plugin":
            let fields = try fields(["uri", "preset", "parameters", "bypass"])
            let uri = try fields.required("uri", example: "http://plugin.org.uk/swh-plugins/amp")
            return try unit(.plugIn(try plugIn(uri, plugIns)), fields)
        default:
            guard let unit = UnitType.all.first(where: { $0.description.component.subtype == type }) else {
                throw GraphFileError(file: path, place: entry.place, problem: "there is no node type '\(type)'")
            }
            return try self.unit(.own(unit), fields(["preset", "parameters", "bypass"]))
        }
    }

    private func plugIn(
        _ uri: (text: String, place: SourcePlace), _ plugIns: PlugInCatalog
    ) throws(GraphFileError) -> PlugIn {
        do throws(PlugInError) {
            let plugIn = try plugIns.plugIn(uri.text)
            if let problem = plugIn.problem { throw problem }
            return plugIn
        } catch { throw GraphFileError(file: path, place: uri.place, problem: ErrorText.text(error)) }
    }

    private func unit(_ unit: Unit, _ fields: GraphFields) throws(GraphFileError) -> Kind {
        let description = unit.description
        let preset = try fields.string("preset")
        if let preset, !description.presets.contains(where: { $0.name == preset.text }) {
            let names = description.presets.map(\.name)
            let near = suggestion(preset.text, in: names)
            throw fields.error(
                names.isEmpty
                    ? "\(fields.what) has no presets"
                    : "\(fields.what) has no preset '\(preset.text)'"
                        + (near.isEmpty ? "; supported: \(names.joined(separator: ", "))" : near), at: preset.place)
        }
        return .unit(
            unit, preset: preset?.text, values: try fields.parameters("parameters", of: description),
            bypass: try fields.boolean("bypass") ?? false)
    }

    private func player(_ fields: GraphFields, _ what: String) throws(GraphFileError) -> Player {
        let input = try fields.integer("input", in: 1...256)
        let file = try fields.string("file")
        var player: Player
        switch (input, file) {
        case (let number?, nil):
            player = Player(source: .input(number), place: fields.entry("input")?.value.place ?? fields.place)
        case (nil, let file?) where file.text.isEmpty:
            throw fields.error("'file' is empty; name a sound file", at: file.place)
        case (nil, let file?): player = Player(source: .file(file.text), place: file.place)
        case (nil, nil):
            throw fields.error("\(what) needs 'file', or 'input', such as input = 1 for the first --input")
        default: throw fields.error("\(what) has both 'input' and 'file'; remove one of them")
        }
        player.start = try fields.number("start", in: 0...Self.longest, "s") ?? 0
        player.skip = try fields.number("skip", in: 0...Self.longest, "s") ?? 0
        player.duration = try fields.number("duration", in: 0.001...Self.longest, "s")
        player.loops = try fields.boolean("loop") ?? false
        player.rate = try fields.rate("rate")
        player.channels = try fields.integer("channels", in: 1...32)
        return player
    }

    private func listener(_ outer: GraphFields) throws(GraphFileError) -> ListenerGeometry {
        guard let entry = outer.entry("listener") else { return ListenerGeometry() }
        let fields = try GraphFields(
            entry.value, what: "listener", file: path, allowed: ["position", "yaw", "pitch", "roll"])
        return ListenerGeometry(
            position: try fields.point("position") ?? .zero,
            yaw: Float(try fields.number("yaw", in: -360...360, "degrees") ?? 0),
            pitch: Float(try fields.number("pitch", in: -90...90, "degrees") ?? 0),
            roll: Float(try fields.number("roll", in: -180...180, "degrees") ?? 0))
    }
}
