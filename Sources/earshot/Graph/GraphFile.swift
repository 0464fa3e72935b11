// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import EarshotAudioPlugIns
import EarshotTOMLReader

/// A graph in a TOML file (docs/graph-files.md), checked as far as possible without opening sound files: every name, field, range
/// and connection. The graph is not built yet.
struct GraphFile {
    struct Player {
        enum Source: Hashable {
            /// The number of the file among those that `--input` names, from 1.
            case input(Int)
            /// A path, relative to the graph file's folder if it is not absolute.
            case file(String)
        }
        var source: Source
        /// The place in the graph file that names the ``source``.
        var place: SourcePlace
        /// The seconds of the rendering at which the player begins.
        var start = 0.0
        /// The seconds to skip at the beginning of the sound file.
        var skip = 0.0
        /// The seconds of the sound file to play; nil for its remainder.
        var duration: Double?
        var loops = false
        /// The player's sample rate in hertz; nil for the sound file's.
        var rate: Double?
        /// The player's number of channels; nil for the sound file's.
        var channels: Int?
    }

    enum Unit {
        case own(UnitType)
        case plugIn(PlugIn)

        var description: UnitDescription {
            switch self {
            case .own(let type): type.description
            case .plugIn(let plugIn): plugIn.description
            }
        }
    }

    enum Kind {
        case unit(Unit, preset: String?, values: [String: Float], bypass: Bool)
        case player(Player)
        case mixer(channels: Int?, volume: Float)
        case environment(ListenerGeometry)
        case converter(rate: Double?, channels: Int?)
        /// The engine's main mixer, which needs no table.
        case mainMixer(volume: Float)
        case output

        /// The number of inputs; nil for any number.
        var inputCount: Int? {
            switch self {
            case .player: 0
            case .unit(let unit, _, _, _): unit.description.component.type == .generator ? 0 : 1
            case .converter, .output: 1
            case .mixer, .environment, .mainMixer: nil
            }
        }
        var isMixer: Bool {
            switch self {
            case .mixer, .mainMixer: true
            default: false
            }
        }
        var isEnvironment: Bool { if case .environment = self { true } else { false } }
        /// True for a looping player or a generator, which never become silent by themselves.
        var isEndless: Bool {
            switch self {
            case .player(let player): player.loops
            case .unit: inputCount == 0
            default: false
            }
        }
    }

    struct Node {
        var name: String
        var place: SourcePlace
        var kind: Kind
    }

    struct Connection {
        var from: String
        var to: String
        var bus: Int
        var place: SourcePlace
        var volume: Float?
        var pan: Float?
        var mute = false
        var solo = false
        var position: SIMD3<Float>?
        /// The parameter values of an environment's input by identifier, without the position.
        var values: [String: Float] = [:]
    }

    /// A change of a parameter's value during the rendering.
    struct Change {
        var node: String
        /// The input buses whose parameter changes; empty if the parameter belongs to the node itself.
        var buses: [Int]
        var parameter: String
        /// The seconds of the rendering at which the change begins.
        var time: Double
        var value: Float
        /// The seconds in which the parameter moves to ``value``.
        var ramp: Double
        var place: SourcePlace
    }

    static let mainMixer = "main mixer"
    static let output = "output"
    /// The maximum time that a graph file may contain, in seconds: a week.
    static let longest = 604_800.0
    private static let nodeLimit = 1_000
    private static let listLimit = 10_000

    /// The path of the graph file, for messages and for finding sound files beside it.
    let path: String
    /// The nodes in the file's order; then the main mixer, unless the file has a table for the main mixer; then the output.
    private(set) var nodes: [Node] = []
    /// The connections in the file's order.
    private(set) var connections: [Connection] = []
    /// The changes in the order of their times.
    private(set) var changes: [Change] = []
    /// The output's sample rate in hertz; nil if the graph file gives none.
    private(set) var rate: Double?
    private(set) var channels = 2

    /// - Parameters:
    ///   - bytes: the file's contents.
    ///   - path: the graph file's path, for messages and for finding sound files beside it.
    ///   - plugIns: the catalog for nodes of type `plugin`.
    init(_ bytes: [UInt8], path: String, plugIns: PlugInCatalog = .installed) throws(GraphFileError) {
        self.path = path
        let document: TOMLValue
        do throws(TOMLError) { document = try TOMLValue(parsing: bytes) } catch {
            throw GraphFileError(error, file: path)
        }
        let root = try GraphFields(
            document, what: "a graph file", file: path,
            allowed: ["output", "nodes", "connections", "automation"])
        if let entry = root.entry("output") { try readOutput(entry.value) }
        if let entry = root.entry("nodes") { try readNodes(entry.value, plugIns) }
        for (name, kind) in [(Self.mainMixer, Kind.mainMixer(volume: 1)), (Self.output, .output)]
        where !nodes.contains(where: { $0.name == name }) {
            nodes.append(Node(name: name, place: .start, kind: kind))
        }
        for value in try list(root, "connections") { connections.append(try connection(value)) }
        try checkConnections()
        for value in try list(root, "automation") { changes.append(try change(value)) }
        changes.sort { $0.time < $1.time }
        try checkChanges()
    }

    func node(_ name: String) -> Node? { nodes.first { $0.name == name } }

    private mutating func readOutput(_ value: TOMLValue) throws(GraphFileError) {
        let fields = try GraphFields(value, what: "[output]", file: path, allowed: ["rate", "channels"])
        rate = try fields.rate("rate")
        channels = try fields.integer("channels", in: 1...32) ?? 2
    }

    private mutating func readNodes(_ value: TOMLValue, _ plugIns: PlugInCatalog) throws(GraphFileError) {
        guard case .table(let entries) = value.content else {
            throw GraphFileError(
                file: path, place: value.place,
                problem: "'nodes' must contain a table for each node, such as [nodes.voice]")
        }
        guard entries.count <= Self.nodeLimit else {
            throw GraphFileError(
                file: path, place: entries[Self.nodeLimit].place,
                problem: "too many nodes; supported: up to \(Self.nodeLimit)")
        }
        for entry in entries { nodes.append(try node(entry, plugIns)) }
    }

    private func list(_ root: GraphFields, _ key: String) throws(GraphFileError) -> [TOMLValue] {
        guard let value = root.entry(key)?.value else { return [] }
        guard case .array(let values) = value.content else {
            throw root.error("'\(key)' must be a list: begin each element with [[\(key)]]", at: value.place)
        }
        guard values.count <= Self.listLimit else {
            throw root.error(
                "too many [[\(key)]]; supported: up to \(Self.listLimit)", at: values[Self.listLimit].place)
        }
        return values
    }
}
