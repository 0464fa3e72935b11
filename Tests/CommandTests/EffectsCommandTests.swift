// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Foundation
import TestSupport
import Testing

@Suite struct EffectsCommandTests {
    @Test func `the list has one line for each effect`() throws {
        let program = try Earshot.start(["effects"])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let lines = program.output.split(separator: "\n")
        #expect(lines.count == UnitType.all.count + 1)
        for unit in UnitType.all.map(\.description) {
            let subtype = try #require(unit.component.subtype)
            #expect(lines.contains { $0.hasPrefix(subtype + " ") && $0.hasSuffix(unit.summary) })
        }
        #expect(!program.output.contains("\u{1B}"))
    }

    @Test func `an effect is shown with its parameters and presets`() throws {
        let program = try Earshot.start(["effects", "Equalizer"])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let lines = program.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let gain = try #require(lines.first { $0.first == "band1.gain" })
        #expect(gain == "band1.gain Band 1 gain 0 -24 to 24 dB".split(separator: " ").map(String.init))
        let shape = try #require(lines.first { $0.first == "band1.type" })
        #expect(shape.contains("notch") && shape.contains("low-shelf"))
        let on = try #require(lines.first { $0.first == "band1.on" })
        #expect(on == "band1.on Band 1 on true true or false".split(separator: " ").map(String.init))
        #expect(lines.contains { $0.starts(with: ["telephone", "band1.type", "high-pass,"]) })
    }

    @Test func `the JSON list has every parameter of every effect`() throws {
        let program = try Earshot.start(["effects", "--json"])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let units = try #require(try theReport(program)["units"] as? [[String: Any]])
        #expect(
            units.compactMap { $0["subtype"] as? String } == UnitType.all.compactMap(\.description.component.subtype))
        for (unit, type) in zip(units, UnitType.all.map(\.description)) {
            let parameters = try #require(unit["parameters"] as? [[String: Any]])
            #expect(parameters.compactMap { $0["identifier"] as? String } == type.parameters.map(\.identifier))
            #expect((unit["presets"] as? [[String: Any]])?.count == type.presets.count)
        }
    }

    @Test func `an unknown effect name is rejected with the nearest name and status 64`() throws {
        let program = try Earshot.start(["effects", "rverb"])
        #expect(program.wait() == .exit(64))
        let line = theFailure(program)
        #expect(line.contains("'rverb'") && line.contains("'reverb'"))
        #expect(program.output.isEmpty)
        let strange = try Earshot.start(["effects", "zzzzzzzz"])
        #expect(strange.wait() == .exit(64))
        #expect(theFailure(strange).contains("earshot effects"))
    }

    @Test func `third-party plug-ins are listed, and found by URI and by name`() throws {
        let uri = "http://plugin.org.uk/swh-plugins/amp"
        let list = try Earshot.start(["effects", "--plugins"])
        #expect(list.wait(seconds: 60) == .exit(0), "\(list.errors)")
        #expect(list.output.split(separator: "\n").contains { $0.hasSuffix("  \(uri)") })
        let one = try Earshot.start(["effects", uri])
        #expect(one.wait(seconds: 60) == .exit(0), "\(one.errors)")
        #expect(one.output.contains("uri = \"\(uri)\"") && one.output.contains("gain"))
        let unknown = try Earshot.start(["effects", uri + "x"])
        #expect(unknown.wait(seconds: 60) == .exit(64))
        #expect(theFailure(unknown).contains("Did you mean"))
    }
}
