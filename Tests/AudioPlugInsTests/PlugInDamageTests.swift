// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import EarshotAudioPlugIns
import Foundation
import Testing
import UnitMeasures

/// Invalid files give a plausible value, a typed error or nothing, but never end the process.
@Suite struct PlugInDamageTests {
    private static let silence = "memset(out, 0, n * sizeof *out);"

    /// Ranges by a careless or hostile author still give a parameter that can be set.
    @Test func `nonsensical ranges are replaced with usable ones`() throws {
        let bundles = try TestBundles()
        let odd = [
            "", "lv2:minimum 5 ; lv2:maximum 1 ; lv2:default 3", "lv2:minimum 0 ; lv2:maximum 1 ; lv2:default 7",
            "lv2:minimum \"low\" ; lv2:maximum \"high\" ; lv2:default \"some\"", "lv2:default 12",
            "lv2:minimum 2 ; lv2:maximum 2 ; lv2:default 2", "lv2:minimum -1e300 ; lv2:maximum 1e300 ; lv2:default 0",
            "lv2:minimum \"NaN\"^^<http://www.w3.org/2001/XMLSchema#float> ; lv2:maximum \"INF\"^^<http://www.w3.org/2001/XMLSchema#double>",
            "lv2:portProperty lv2:enumeration",
            "lv2:portProperty lv2:enumeration ; lv2:scalePoint [ rdfs:label \"x\" ]",
            "lv2:portProperty lv2:toggled ; lv2:minimum -4 ; lv2:maximum 99 ; lv2:default -2",
            "lv2:minimum true ; lv2:maximum false", "lv2:maximum -5",
            "lv2:portProperty lv2:sampleRate ; lv2:default -3",
            "lv2:minimum 99999999999999999999 ; lv2:maximum 0 ; units:unit units:mhz",
        ]
        var ports = odd.enumerated().map { TestBundles.control("p\($0)", $1) }
        ports.append(TestBundles.control("p0", "lv2:name \"two\\nlines\""))
        let library = try TestBundles.library("odd", run: Self.silence)
        try bundles.write("odd", ports: ports, library: library)
        let plugIn = try bundles.catalog.plugIn("urn:test:odd")
        let parameters = plugIn.description.parameters
        #expect(plugIn.problem == nil && parameters.count == ports.count)
        #expect(Set(parameters.map(\.identifier)).count == ports.count)
        for parameter in parameters {
            #expect(parameter.range.lowerBound.isFinite && parameter.range.upperBound.isFinite)
            #expect(parameter.range.contains(parameter.defaultValue) && !parameter.name.contains("\n"))
        }
        #expect(parameters[1].range == 1...5 && parameters[2].defaultValue == 1 && parameters[4].defaultValue == 12)
        let unit = try plugIn.makeUnit(sampleRate: 48_000, channelCount: 2)
        unit.set(parameters.map(\.range.upperBound))
        unit.set(parameters.map(\.range.lowerBound))
    }

    @Test func `a plug-in may have six hundred ports, but not five thousand`() throws {
        for (count, isRight) in [(600, true), (5_000, false)] {
            let bundles = try TestBundles()
            let run = "for (unsigned i = 0; i < n; i++) out[i] = *control[i % 64];"
            let library = try TestBundles.library("many", run: run)
            let ports = (0..<count).map {
                TestBundles.control("p\($0)", "lv2:minimum 0 ; lv2:maximum 1e6 ; lv2:default \($0)")
            }
            try bundles.write("many", ports: ports, library: library)
            let plugIn = try bundles.catalog.plugIn("urn:test:many")
            #expect((plugIn.problem == nil) == isRight)
            if isRight {
                let unit = try plugIn.makeUnit(sampleRate: 48_000, channelCount: 1)
                #expect(UnitDrive.render(unit, [[Float](repeating: 0, count: 64)])[0] == (0..<64).map(Float.init))
            }
        }
    }

    @Test func `files that are not valid descriptions are skipped`() throws {
        let bundles = try TestBundles()
        try bundles.write("good", library: try TestBundles.library("good", run: Self.silence))
        let plugIn = "<urn:test:x> a lv2:Plugin ; lv2:binary <library.so> ;"
        let nonsense: [(String, String)] = [
            ("torn", "@prefix lv2: <http://lv2plug.in/ns/lv2core#> . <urn:test:torn> a lv2:Plugin ; lv2:binary <"),
            ("nothing", ""), ("words", "This is no Turtle at all."),
            ("bare", TestBundles.prefixes + "<urn:test:bare> a lv2:Plugin ."),
            ("nameless", TestBundles.prefixes + "<urn:test:nameless> a lv2:Plugin ; lv2:binary <library.so> ."),
            (
                "itself",
                TestBundles.prefixes + plugIn.replacing("x>", with: "itself>")
                    + "rdfs:seeAlso <manifest.ttl>, <gone.ttl> ."
            ),
            (
                "gap",
                TestBundles.prefixes + plugIn.replacing("x>", with: "gap>")
                    + "lv2:port [ a lv2:InputPort, lv2:AudioPort ; lv2:index 7 ; lv2:symbol \"a\" ; lv2:name \"a\" ] ."
            ),
            (
                "index",
                TestBundles.prefixes + plugIn.replacing("x>", with: "index>")
                    + "lv2:port [ a lv2:InputPort, lv2:AudioPort ; lv2:index -1 ] , [ lv2:index \"one\" ] ."
            ),
            (
                "way",
                TestBundles.prefixes + plugIn.replacing("x>", with: "way>")
                    + "lv2:port [ a lv2:AudioPort ; lv2:index 0 ; lv2:symbol \"a\" ; lv2:name \"a\" ] ."
            ),
            (
                "remote",
                TestBundles.prefixes + "<urn:test:remote> a lv2:Plugin ; lv2:binary <http://example.org/x.so> ."
            ),
        ]
        for (name, turtle) in nonsense {
            try bundles.write(name, ["manifest.ttl": Data(turtle.utf8), "library.so": Data("no".utf8)])
        }
        try bundles.write("bytes", ["manifest.ttl": Data((0..<4_096).map { UInt8(truncatingIfNeeded: $0 &* 167) })])
        try bundles.write("folder", [:])
        let catalog = bundles.catalog
        #expect(catalog.units.map(\.component.subtype) == ["urn:test:good"])
        for plugIn in catalog.plugIns where plugIn.uri != "urn:test:good" {
            let problem = try #require(plugIn.problem)
            #expect(throws: problem) { try plugIn.makeUnit(sampleRate: 48_000, channelCount: 1) }
        }
        #expect(throws: Never.self) {
            try catalog.plugIn("urn:test:good").makeUnit(sampleRate: 48_000, channelCount: 1)
        }
    }

    /// A valid file with some bytes changed, from seeds.
    @Test func `a file with altered bytes never crashes the program`() throws {
        let bundles = try TestBundles()
        let ports = [
            TestBundles.control("gain", "lv2:minimum 0 ; lv2:maximum 1 ; lv2:default 0.5 ; units:unit units:db"),
            TestBundles.control(
                "kind",
                """
                lv2:portProperty lv2:enumeration ; lv2:default 1 ; lv2:scalePoint [ rdfs:label "a" ; rdf:value 0 ] ,
                [ rdfs:label "b" ; rdf:value 1.5 ]
                """),
        ]
        let preset = "rdfs:label \"Loud\" ; lv2:port [ lv2:symbol \"gain\" ; pset:value 0.9 ]"
        try bundles.write(
            "good", ports: ports,
            more: """
                lv2:optionalFeature lv2:hardRTCapable ; a lv2:AmplifierPlugin .
                <urn:test:preset> a pset:Preset ; lv2:appliesTo <urn:test:good> ; \(preset) .
                <urn:test:good>
                """, library: try TestBundles.library("good", run: Self.silence))
        #expect(try bundles.catalog.plugIn("urn:test:good").description.presets.map(\.name) == ["default", "loud"])
        let good = try Data(contentsOf: bundles.folder.appending(path: "good.lv2/manifest.ttl"))
        var state: UInt64 = 4
        func draw(_ below: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % below
        }
        var made = 0
        for _ in 0..<200 {
            var bytes = good
            for _ in 0...draw(4) {
                let at = draw(bytes.count)
                switch draw(3) {
                case 0: bytes[at] = UInt8(draw(256))
                case 1: bytes.remove(at: at)
                default: bytes.insert(UInt8(draw(128)), at: at)
                }
            }
            try bundles.write("good", ["manifest.ttl": bytes])
            for plugIn in bundles.catalog.plugIns {
                made += (try? plugIn.makeUnit(sampleRate: 48_000, channelCount: 1)) == nil ? 0 : 1
            }
        }
        // Some changes are harmless, most are not.
        #expect(made > 5 && made < 195, "\(made)")
    }
}
