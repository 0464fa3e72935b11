// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Foundation
import Testing

@testable import earshot

/// Tests the format of graph files, and where errors are.
@Suite struct GraphFileTests {
    static let sound = """
        [output]
        rate = 44100
        channels = 1

        [nodes.voice]
        type = "player"
        input = 2
        start = 0.25
        loop = true

        [nodes."my eq"]
        type = "equalizer"
        preset = "voice"
        [nodes."my eq".parameters]
        "band1.gain" = 3
        band2.type = "notch"
        band3.on = false

        [[connections]]
        from = "voice"
        to = "my eq"

        [[connections]]
        from = "my eq"
        to = "main mixer"
        volume = 0.8
        pan = -0.3

        [[automation]]
        node = "main mixer"
        input = "my eq"
        parameter = "pan"
        time = 2
        value = 1
        ramp = 0.5

        [[automation]]
        node = "my eq"
        parameter = "gain"
        time = 1.5
        value = -3
        """

    @Test func `a graph file describes nodes, connections and changes`() throws {
        let file = try GraphFile(Array(Self.sound.utf8), path: "a.toml")
        #expect(file.rate == 44_100 && file.channels == 1)
        #expect(file.nodes.map(\.name) == ["voice", "my eq", "main mixer", "output"])
        guard case .player(let player) = try #require(file.node("voice")).kind else {
            Issue.record("no player"); return
        }
        #expect(player.source == .input(2) && player.start == 0.25 && player.loops)
        guard case .unit(_, let preset, let values, let bypass) = try #require(file.node("my eq")).kind else {
            Issue.record("no unit")
            return
        }
        #expect(preset == "voice" && values == ["band1.gain": 3, "band2.type": 6, "band3.on": 0] && !bypass)
        #expect(file.connections.map(\.bus) == [0, 0])
        #expect(file.connections[1].volume == 0.8 && file.connections[1].pan == -0.3)
        #expect(file.changes.map(\.time) == [1.5, 2])
        #expect(file.changes[0].buses.isEmpty && file.changes[1].buses == [0])
    }

    @Test func `a unit may be bypassed`() throws {
        let text = Self.sound.replacing("preset = \"voice\"", with: "preset = \"voice\"\nbypass = true")
        guard
            case .unit(_, _, _, let bypass) = try #require(GraphFile(Array(text.utf8), path: "a.toml").node("my eq"))
                .kind
        else {
            Issue.record("no unit")
            return
        }
        #expect(bypass)
    }

    struct Wrong: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// The old text in a sound file, and its replacement.
        var old: String
        var new: String
        /// The beginning of the error's position.
        var place: String
        var words: [String]
    }

    static let wrong = [
        Wrong(
            testDescription: "broken grammar", old: "input = 2", new: "input = = 2", place: "a.toml:7:",
            words: ["not valid TOML"]),
        Wrong(
            testDescription: "a rate with a fraction", old: "rate = 44100", new: "rate = 44100.4", place: "a.toml:2:8",
            words: ["'rate'", "whole numbers (Hz)", "44100.4"]),
        Wrong(
            testDescription: "a player's rate with a fraction", old: "input = 2", new: "input = 2\nrate = 8000.5",
            place: "a.toml:8:8", words: ["whole numbers (Hz)"]),
        Wrong(
            testDescription: "an unknown table", old: "[output]", new: "[outputs]", place: "a.toml:1:2",
            words: ["'outputs'", "did you mean 'output'"]),
        Wrong(
            testDescription: "an unknown field", old: "loop = true", new: "looped = true", place: "a.toml:9:1",
            words: ["player 'voice'", "'looped'", "'loop'"]),
        Wrong(
            testDescription: "an unknown type", old: "\"equalizer\"", new: "\"equaliser\"", place: "a.toml:12:8",
            words: ["'equaliser'", "'equalizer'"]),
        Wrong(
            testDescription: "no type", old: "type = \"player\"\n", new: "", place: "a.toml:5:8",
            words: ["'voice'", "needs a type"]),
        Wrong(
            testDescription: "an unknown preset", old: "\"voice\"\n[", new: "\"vioce\"\n[", place: "a.toml:13:10",
            words: ["'vioce'", "'voice'"]),
        Wrong(
            testDescription: "an unknown parameter", old: "\"band1.gain\"", new: "\"band1.gian\"", place: "a.toml:15:1",
            words: ["'band1.gian'", "'band1.gain'"]),
        Wrong(
            testDescription: "a parameter out of range", old: "gain\" = 3", new: "gain\" = 60", place: "a.toml:15:16",
            words: ["-24 to 24 dB", "is 60"]),
        Wrong(
            testDescription: "a parameter that is no number", old: "gain\" = 3", new: "gain\" = nan",
            place: "a.toml:15:16",
            words: ["-24 to 24 dB"]),
        Wrong(
            testDescription: "a parameter of another kind", old: "gain\" = 3", new: "gain\" = \"3\"",
            place: "a.toml:15:16", words: ["a string"]),
        Wrong(
            testDescription: "an unknown choice", old: "\"notch\"", new: "\"notsch\"", place: "a.toml:16:14",
            words: ["'notsch'", "'notch'"]),
        Wrong(
            testDescription: "an unknown node", old: "from = \"voice\"", new: "from = \"vioce\"", place: "a.toml:20:8",
            words: ["'vioce'", "'voice'"]),
        Wrong(
            testDescription: "a pan out of range", old: "pan = -0.3", new: "pan = -3", place: "a.toml:27:7",
            words: ["-1 to 1", "-3"]),
        Wrong(
            testDescription: "a volume at an input that is no mixer's", old: "to = \"my eq\"",
            new: "to = \"my eq\"\nvolume = 1", place: "a.toml:22:1", words: ["'volume'", "mixers"]),
        Wrong(
            testDescription: "a ring", old: "from = \"voice\"", new: "from = \"my eq\"", place: "a.toml:19:3",
            words: ["my eq → my eq"]),
        Wrong(
            testDescription: "a node without a way out", old: "from = \"my eq\"\nto = \"main mixer\"\nvolume",
            new: "from = \"voice\"\nto = \"main mixer\"\nvolume", place: "a.toml:11:8",
            words: ["'my eq'", "does not lead"]),
        Wrong(
            testDescription: "a node without a source", old: "from = \"voice\"\nto = \"my eq\"",
            new: "from = \"voice\"\nto = \"main mixer\"", place: "a.toml:11:8",
            words: ["nothing is connected to 'my eq'"]),
        Wrong(
            testDescription: "a second connection to one input", old: "to = \"main mixer\"\nvolume = 0.8\npan = -0.3",
            new: "to = \"main mixer\"\n[[connections]]\nfrom = \"voice\"\nto = \"my eq\"", place: "a.toml:28:6",
            words: ["'my eq'", "line 19"]),
        Wrong(
            testDescription: "a player without a source", old: "input = 2\n", new: "", place: "a.toml:5:8",
            words: ["'input'", "'file'"]),
        Wrong(
            testDescription: "an input that is not counted from 1", old: "input = 2", new: "input = 0",
            place: "a.toml:7:9", words: ["1 to 256"]),
        Wrong(
            testDescription: "an automation of a node without parameters", old: "node = \"my eq\"",
            new: "node = \"voice\"", place: "a.toml:38:8", words: ["'voice'", "no parameters"]),
        Wrong(
            testDescription: "an automation of an unknown parameter", old: "parameter = \"gain\"",
            new: "parameter = \"gian\"", place: "a.toml:39:13", words: ["'gian'", "'gain'"]),
        Wrong(
            testDescription: "an automation of an input that is none", old: "input = \"my eq\"",
            new: "input = \"voice\"", place: "a.toml:31:9", words: ["'voice'", "'my eq'"]),
    ]

    @Test(arguments: wrong) func `an error in a graph file is reported with its place`(wrong: Wrong) throws {
        let range = try #require(Self.sound.range(of: wrong.old))
        let text = Self.sound.replacingCharacters(in: range, with: wrong.new)
        let error = try #require(throws: GraphFileError.self) { try GraphFile(Array(text.utf8), path: "a.toml") }
        #expect(error.description.hasPrefix(wrong.place), "\(error)")
        for word in wrong.words { #expect(error.description.contains(word), "\(error)") }
        #expect(!error.description.contains("\n"))
    }

    @Test(arguments: ["", "# nothing\n", "[nodes.a]\ntype = \"player\"\ninput = 1\n"])
    func `a graph without a connection to the main mixer is rejected with an example`(text: String) throws {
        let error = try #require(throws: GraphFileError.self) { try GraphFile(Array(text.utf8), path: "a.toml") }
        #expect(error.description.contains("main mixer"), "\(error)")
        #expect(error.description.contains("from = \"\(text.contains("nodes.a") ? "a" : "voice")\""), "\(error)")
    }

    private func changes(_ count: Int, apart seconds: Double) -> [UInt8] {
        var text = Self.sound
        for i in 0..<count {
            text +=
                "\n[[automation]]\nnode = \"my eq\"\nparameter = \"gain\"\ntime = \(Double(i) * seconds)\nvalue = \(i % 2)"
        }
        return Array(text.utf8)
    }

    @Test func `too many changes at one time are rejected at the first one over the limit`() throws {
        #expect(try GraphFile(changes(256, apart: 0), path: "a.toml").changes.count == 258)
        #expect(try GraphFile(changes(3_000, apart: 1e-5), path: "a.toml").changes.count == 3_002)
        let error = try #require(throws: GraphFileError.self) {
            try GraphFile(changes(300, apart: 0), path: "a.toml")
        }
        let first = Self.sound.split(separator: "\n", omittingEmptySubsequences: false).count
        #expect(error.place.line == first + 256 * 5 + 1, "\(error)")
        #expect(error.description.contains("'my eq'") && error.description.contains("256"))
    }

    @Test func `every unit can be a node, with each preset and with each parameter at both limits`() throws {
        for type in UnitType.all.map(\.description) {
            let subtype = try #require(type.component.subtype)
            let isSource = type.component.type == .generator
            #expect(!type.parameters.isEmpty, "\(subtype)")
            for preset in [""] + type.presets.map({ "preset = \"\($0.name)\"" }) {
                for end in [true, false] {
                    let parameters = type.parameters.map {
                        "\"\($0.identifier)\" = \(end ? $0.range.lowerBound : $0.range.upperBound)"
                    }
                    let text = """
                        [nodes.a]
                        type = "player"
                        input = 1
                        [nodes.b]
                        type = "\(subtype)"
                        \(preset)
                        [nodes.b.parameters]
                        \(parameters.joined(separator: "\n"))
                        [[connections]]
                        from = "a"
                        to = "\(isSource ? "main mixer" : "b")"
                        [[connections]]
                        from = "b"
                        to = "main mixer"
                        """
                    let file = try GraphFile(Array(text.utf8), path: "\(subtype).toml")
                    let kind = try #require(file.node("b")).kind
                    guard case .unit(_, _, let values, _) = kind else { Issue.record("\(subtype): \(kind)"); return }
                    #expect(values.count == type.parameters.count)
                }
            }
        }
    }

    @Test(arguments: [
        "[=]", "[ #]", "[[", "[[.a]]", "[é]", "[", "[]", "[a.=]", "\0", "a = \"\0\"", "\u{FEFF}",
        "a = 1979-05-27T07:32:00Z", "a = 1979-05-27 # b", "a = [1979-05-27 ]", "a = 1.2e-3", "nodes = 1", "nodes.a = 1",
        "connections = 1",
    ])
    func `malformed graph files are rejected`(text: String) {
        #expect(throws: GraphFileError.self) { try GraphFile(Array(text.utf8), path: "a.toml") }
    }
}
