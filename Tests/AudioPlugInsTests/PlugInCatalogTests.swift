// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import EarshotAudioPlugIns
import Testing
import UnitMeasures

/// Tests a catalogue with well-described plug-ins.
@Suite struct PlugInCatalogTests {
    @Test func `plug-ins are found by URI, name and part of a URI`() throws {
        let installed = try PlugInCatalog.installed.plugIn("http://plugin.org.uk/swh-plugins/amp")
        #expect(installed.description.name == "Simple amplifier")
        let catalog = collections
        let amplifier = try catalog.plugIn("http://plugin.org.uk/swh-plugins/amp")
        #expect(amplifier.description.name == "Simple amplifier" && amplifier.problem == nil)
        #expect(amplifier.isRealTimeCapable)
        #expect(try catalog.plugIn("simple AMPLIFIER") === amplifier)
        #expect(try catalog.plugIn("swh-plugins/sinCos").uri == "http://plugin.org.uk/swh-plugins/sinCos")
        let component = AudioComponentDescription(type: .effect, subtype: amplifier.uri, manufacturer: "lv2")
        #expect(catalog.plugIns(matching: component).map(\.uri) == [amplifier.uri])
        #expect(catalog.plugIns(matching: AudioComponentDescription(manufacturer: "earshot")).isEmpty)
        #expect(catalog.units.contains(amplifier.description))
    }

    @Test func `an unknown name is reported with the nearest ones`() {
        #expect(throws: PlugInError.notFound(name: "Simple amplifer", near: ["Simple amplifier"])) {
            try collections.plugIn("Simple amplifer")
        }
        #expect(throws: PlugInError.notFound(name: "urn:nobody:nothing-of-the-kind", near: [])) {
            try collections.plugIn("urn:nobody:nothing-of-the-kind")
        }
        let several = #expect(throws: PlugInError.self) { try collections.plugIn("MDA De") }
        guard case .notFound(_, let near)? = several else { Issue.record("\(String(describing: several))"); return }
        #expect(near.first?.hasPrefix("MDA De") == true, "\(near)")
    }

    @Test func `a folder without plug-ins gives an empty catalogue`() {
        let catalog = PlugInCatalog(path: "/nonexistent")
        #expect(catalog.plugIns.isEmpty && catalog.units.isEmpty)
        #expect(throws: PlugInError.notFound(name: "urn:x", near: [])) { try catalog.plugIn("urn:x") }
    }

    @Test func `ports become parameters with ranges and units`() throws {
        let section = try swh("singlePara").description
        #expect(section.parameters.map(\.identifier) == ["gain", "fc", "bw"])
        #expect(section.parameters[0].range == -70...30)
        // The range is in multiples of the sample rate, the default in hertz.
        #expect(section.parameters[1].unit == .hertz && section.parameters[1].defaultValue == 440)
        #expect(abs(section.parameters[1].range.upperBound - 19_200) < 0.01)
    }

    @Test func `units, choices and switches are converted to the port's values`() throws {
        let bundles = try TestBundles()
        let ports = [
            TestBundles.control("time", "lv2:minimum 10 ; lv2:maximum 2000 ; lv2:default 500 ; units:unit units:ms"),
            TestBundles.control("cutoff", "lv2:minimum 0.02 ; lv2:maximum 20 ; lv2:default 1 ; units:unit units:khz"),
            TestBundles.control(
                "shape",
                """
                lv2:portProperty lv2:enumeration ; lv2:minimum 0 ; lv2:maximum 9 ; lv2:default 4 ;
                lv2:scalePoint [ rdfs:label "saw" ; rdf:value 9 ] , [ rdfs:label "sine" ; rdf:value 0 ] ,
                [ rdfs:label "square" ; rdf:value 4 ]
                """),
            TestBundles.control("on", "lv2:portProperty lv2:toggled ; lv2:default 1"),
            TestBundles.control(
                "steps", "lv2:portProperty lv2:integer ; lv2:minimum 1 ; lv2:maximum 8 ; lv2:default 3"),
        ]
        let library = try TestBundles.library(
            "units", run: "for (unsigned i = 0; i < n; i++) out[i] = *control[i % 5];")
        try bundles.write("units", ports: ports, library: library)
        let plugIn = try bundles.catalog.plugIn("urn:test:units")
        let parameters = plugIn.description.parameters
        #expect(parameters.map(\.unit) == [.seconds, .hertz, .choice(["sine", "square", "saw"]), .toggle, .generic])
        #expect(parameters.map(\.defaultValue) == [0.5, 1_000, 1, 1, 3])
        #expect(parameters[0].range == 0.01...2 && parameters[2].range == 0...2)

        let unit = try plugIn.makeUnit(sampleRate: 48_000, channelCount: 1)
        func heard(_ changes: [String: Float]) -> [Float] {
            unit.set(values(unit, changes))
            return UnitDrive.render(unit, [[0, 0, 0, 0, 0]])[0]
        }
        #expect(heard([:]) == [500, 1, 4, 1, 3])
        #expect(heard(["time": 1.25, "cutoff": 5_000, "shape": 2, "on": 0, "steps": 6.4]) == [1_250, 5, 9, 0, 6])
        // Values beyond the range become its end, and NaN its lower end.
        #expect(heard(["time": 99, "cutoff": -1, "shape": 77, "on": 5, "steps": -3]) == [2_000, 0.02, 9, 1, 1])
        #expect(heard(["time": .nan, "shape": .nan, "steps": .infinity]) == [10, 1, 0, 1, 8])
    }

    @Test func `presets are sets of parameter values within their ranges`() throws {
        let leslie = try mda("Leslie").description
        #expect(leslie.presets.count > 1 && leslie.presets[0].name == "default")
        #expect(Set(leslie.presets.map(\.name)).count == leslie.presets.count)
        for preset in leslie.presets {
            for (name, value) in preset.values {
                let index = try #require(leslie.index(of: name))
                #expect(leslie.parameters[index].range.contains(value))
            }
        }
        let changed = leslie.presets.filter { leslie.values(of: $0) != leslie.defaultValues }
        #expect(!changed.isEmpty)
    }

    @Test func `every supported plug-in of the two collections runs and gives finite sound`() throws {
        let ours = collections.plugIns.filter {
            $0.uri.hasPrefix("http://plugin.org.uk/swh-plugins/")
                || $0.uri.hasPrefix("http://drobilla.net/plugins/mda/")
        }
        #expect(ours.count > 100)
        var ran = 0
        let sine = UnitDrive.sine(1_000, rate: 48_000, count: 2_000, amplitude: 0.3)
        // hermesFilter frees memory that it does not own, in any host, as the address sanitizer reports.
        for plugIn in ours where plugIn.problem == nil && !plugIn.uri.hasSuffix("/hermesFilter") {
            let description = plugIn.description
            #expect(description.parameters.allSatisfy { $0.range.contains($0.defaultValue) && !$0.name.isEmpty })
            #expect(Set(description.parameters.map(\.identifier)).count == description.parameters.count)
            // Plug-ins with more than two channels and libraries that the distribution linked badly are left out.
            guard let unit = try? plugIn.makeUnit(sampleRate: 48_000, channelCount: 2) else { continue }
            let heard =
                unit.inputChannelCount == 0
                ? generate(unit, 2_000) : UnitDrive.render(unit, [sine, sine], blocks: [300, 64])
            #expect(heard.allSatisfy { $0.allSatisfy { $0.isFinite } }, "\(plugIn.uri)")
            ran += 1
        }
        #expect(ran > 100)
    }
}
