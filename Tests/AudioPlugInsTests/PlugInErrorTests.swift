import AudioDSP
import AudioPlugIns
import Foundation
import Testing
import UnitMeasures

/// Plug-ins that cannot run, and files that make no sense: a typed error or a sensible value, never the end of the program.
@Suite struct PlugInErrorTests {
    private static let silence = "memset(out, 0, n * sizeof *out);"

    /// What making a unit of a bundle's plug-in throws.
    private func failure(_ bundles: TestBundles, _ name: String) -> PlugInError? {
        do {
            _ = try bundles.catalog.plugIn("urn:test:\(name)").makeUnit(sampleRate: 48_000, channelCount: 1)
            return nil
        } catch { return error }
    }

    @Test func `a feature that is not offered is named`() throws {
        let bundles = try TestBundles()
        let library = try TestBundles.library("needy", run: Self.silence)
        try bundles.write("needy", more: "lv2:requiredFeature <urn:some:feature> ;", library: library)
        let error = failure(bundles, "needy")
        #expect(error == .requiresFeature(plugIn: "Test needy", feature: "urn:some:feature"))
        #expect(try bundles.catalog.plugIn("urn:test:needy").problem == error)
        #expect(bundles.catalog.units.isEmpty)
    }

    @Test func `an option that is not offered is named`() throws {
        let bundles = try TestBundles()
        let needs = "<http://lv2plug.in/ns/ext/options#requiredOption> <urn:some:option> ;"
        try bundles.write("option", more: needs, library: try TestBundles.library("option", run: Self.silence))
        #expect(failure(bundles, "option") == .requiresFeature(plugIn: "Test option", feature: "urn:some:option"))
    }

    @Test func `ports that cannot be connected are refused, optional ones are not`() throws {
        let bundles = try TestBundles()
        let port = "a lv2:InputPort, lv2:CVPort ; lv2:symbol \"cv\" ; lv2:name \"CV\""
        try bundles.write("cv", ports: [port], library: try TestBundles.library("cv", run: Self.silence))
        try bundles.write(
            "free", ports: [port + " ; lv2:portProperty lv2:connectionOptional"],
            library: try TestBundles.library("free", run: "for (unsigned i = 0; i < n; i++) out[i] = control[0] == 0;"))
        #expect(
            failure(bundles, "cv")
                == .unsupportedPorts(plugIn: "Test cv", detail: "has a port of control voltage"))
        let unit = try bundles.catalog.plugIn("urn:test:free").makeUnit(sampleRate: 48_000, channelCount: 1)
        #expect(UnitDrive.render(unit, [[0, 0]])[0] == [1, 1])
    }

    @Test func `channels that do not fit are an error`() throws {
        let error = #expect(throws: PlugInError.self) {
            try swh("xfade").makeUnit(sampleRate: 48_000, channelCount: 2)
        }
        #expect(error == .unsupportedChannels(plugIn: "Crossfade", inputs: 4, outputs: 2, asked: 2))
        #expect(throws: PlugInError.self) { try mda("Delay").makeUnit(sampleRate: 48_000, channelCount: 6) }
    }

    @Test func `what a plug-in says when it refuses is in the error`() throws {
        let bundles = try TestBundles()
        let refusal = """
            for (; *f; f++) if (!strcmp((*f)->URI, LV2_LOG__log)) {
                const LV2_Log_Log *log = (*f)->data;
                log->printf(log->handle, 0, "no room for %d seconds at %.0f Hz", 3, rate);
            }
            return 0;
            """
        let library = try TestBundles.library("refuses", run: Self.silence, instantiate: refusal)
        try bundles.write("refuses", library: library)
        #expect(
            failure(bundles, "refuses")
                == .instantiationFailed(
                    plugIn: "Test refuses", sampleRate: 48_000, words: "no room for 3 seconds at 48000 Hz"))
    }

    @Test func `a library that is missing, no library, or another's is an error`() throws {
        let bundles = try TestBundles()
        try bundles.write("gone", library: nil)
        try bundles.write("text", library: Data("This is no library.".utf8))
        try bundles.write("empty", library: Data())
        try bundles.write("other", library: try TestBundles.library("someone-else", run: Self.silence))
        let path = bundles.folder.appending(path: "gone.lv2/library.so").path
        #expect(failure(bundles, "gone") == .noLibrary(plugIn: "Test gone", path: path))
        for name in ["text", "empty", "other"] {
            let error = failure(bundles, name)
            guard case .instantiationFailed(plugIn: "Test \(name)", 48_000, let words) = error else {
                Issue.record("\(name): \(String(describing: error))")
                continue
            }
            #expect(name == "other" || words.contains("library.so"), "\(words)")
        }
    }

    /// Ranges as a careless or a hostile author may write them: what comes out is a parameter that can be set.
    @Test func `ranges that make no sense become some that do`() throws {
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

    @Test func `six hundred ports are as good as six, five thousand are a mistake`() throws {
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
            guard isRight else { continue }
            let unit = try plugIn.makeUnit(sampleRate: 48_000, channelCount: 1)
            #expect(UnitDrive.render(unit, [[Float](repeating: 0, count: 64)])[0] == (0..<64).map(Float.init))
        }
    }

    @Test func `files that are no descriptions are skipped`() throws {
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

    /// A good file with bytes changed here and there, from seeds.
    @Test func `a file with changed bytes never ends the program`() throws {
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

    @Test func `what is no sound becomes silence, and is counted`() throws {
        let bundles = try TestBundles()
        let run =
            "const float bad[] = {NAN, 1, INFINITY, -INFINITY, 1e30f, 0.5f}; for (unsigned i = 0; i < n; i++) out[i] = bad[i % 6];"
        try bundles.write("bad", library: try TestBundles.library("bad", run: run))
        let plugIn = try bundles.catalog.plugIn("urn:test:bad")
        let unit = try plugIn.makeUnit(sampleRate: 48_000, channelCount: 2)
        let zeros = [Float](repeating: 0, count: 6)
        #expect(UnitDrive.render(unit, [zeros, zeros]) == [[0, 1, 0, 0, 0, 0.5], [0, 1, 0, 0, 0, 0.5]])
        #expect(plugIn.scrubbedSampleCount == 8)
    }

    @Test func `a latency that nobody can mean is not believed`() throws {
        for (value, wanted) in [("NAN", 0), ("-5", 0), ("1e30f", 480_000), ("17.4f", 17)] {
            let bundles = try TestBundles()
            let port =
                "a lv2:OutputPort, lv2:ControlPort ; lv2:symbol \"l\" ; lv2:name \"l\" ; lv2:portProperty lv2:reportsLatency"
            let library = try TestBundles.library("late", run: "\(Self.silence) *control[0] = \(value);")
            try bundles.write("late", ports: [port], library: library)
            let unit = try bundles.catalog.plugIn("urn:test:late").makeUnit(sampleRate: 48_000, channelCount: 1)
            #expect(unit.latency == wanted)
        }
    }

    @Test func `errors say what to do next`() {
        let errors: [PlugInError] = [
            .notFound(name: "x", near: []), .notFound(name: "x", near: ["y"]),
            .badDescription(plugIn: "x", detail: "y"),
            .noLibrary(plugIn: "x", path: "y"), .requiresFeature(plugIn: "x", feature: "y"),
            .unsupportedPorts(plugIn: "x", detail: "y"),
            .unsupportedChannels(plugIn: "x", inputs: 4, outputs: 2, asked: 2),
            .instantiationFailed(plugIn: "x", sampleRate: 48_000, words: "y"),
        ]
        for error in errors {
            let next = ["install", "did you mean", "use another", "try "].contains { "\(error)".contains($0) }
            #expect(next && !"\(error)".contains("\n"), "\(error)")
        }
    }
}
