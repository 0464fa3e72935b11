// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import EarshotAudioPlugIns
import Foundation
import Testing
import UnitMeasures

/// Plug-ins that cannot run, and output that is not sound.
@Suite struct PlugInErrorTests {
    private static let silence = "memset(out, 0, n * sizeof *out);"

    /// Returns the error of creating a unit from a bundle's plug-in.
    private func failure(_ bundles: TestBundles, _ name: String) -> PlugInError? {
        do {
            _ = try bundles.catalog.plugIn("urn:test:\(name)").makeUnit(sampleRate: 48_000, channelCount: 1)
            return nil
        } catch { return error }
    }

    @Test func `an unsupported required feature is named in the error`() throws {
        let bundles = try TestBundles()
        let library = try TestBundles.library("needy", run: Self.silence)
        try bundles.write("needy", more: "lv2:requiredFeature <urn:some:feature> ;", library: library)
        let error = failure(bundles, "needy")
        #expect(error == .requiresFeature(plugIn: "Test needy", feature: "urn:some:feature"))
        #expect(try bundles.catalog.plugIn("urn:test:needy").problem == error)
        #expect(bundles.catalog.units.isEmpty)
    }

    @Test func `an unsupported required option is named in the error`() throws {
        let bundles = try TestBundles()
        let needs = "<http://lv2plug.in/ns/ext/options#requiredOption> <urn:some:option> ;"
        try bundles.write("option", more: needs, library: try TestBundles.library("option", run: Self.silence))
        #expect(failure(bundles, "option") == .requiresFeature(plugIn: "Test option", feature: "urn:some:option"))
    }

    @Test func `unsupported ports are rejected unless they are optional`() throws {
        let bundles = try TestBundles()
        let port = "a lv2:InputPort, lv2:CVPort ; lv2:symbol \"cv\" ; lv2:name \"CV\""
        try bundles.write("cv", ports: [port], library: try TestBundles.library("cv", run: Self.silence))
        try bundles.write(
            "free", ports: [port + " ; lv2:portProperty lv2:connectionOptional"],
            library: try TestBundles.library("free", run: "for (unsigned i = 0; i < n; i++) out[i] = control[0] == 0;"))
        #expect(
            failure(bundles, "cv")
                == .unsupportedPorts(
                    plugIn: "Test cv", detail: "has a control voltage port, which Earshot does not support"))
        let unit = try bundles.catalog.plugIn("urn:test:free").makeUnit(sampleRate: 48_000, channelCount: 1)
        #expect(UnitDrive.render(unit, [[0, 0]])[0] == [1, 1])
    }

    @Test func `an unsupported channel count is an error`() throws {
        let error = #expect(throws: PlugInError.self) {
            try swh("xfade").makeUnit(sampleRate: 48_000, channelCount: 2)
        }
        #expect(error == .unsupportedChannels(plugIn: "Crossfade", inputs: 4, outputs: 2, asked: 2))
        #expect(throws: PlugInError.self) { try mda("Delay").makeUnit(sampleRate: 48_000, channelCount: 6) }
    }

    @Test func `a plug-in's own message is included in the error`() throws {
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
                    plugIn: "Test refuses", sampleRate: 48_000, log: "no room for 3 seconds at 48000 Hz"))
    }

    @Test func `a missing, invalid or foreign library is an error`() throws {
        let bundles = try TestBundles()
        try bundles.write("gone", library: nil)
        try bundles.write("text", library: Data("This is no library.".utf8))
        try bundles.write("empty", library: Data())
        try bundles.write("other", library: try TestBundles.library("someone-else", run: Self.silence))
        let path = bundles.folder.appending(path: "gone.lv2/library.so").path
        #expect(failure(bundles, "gone") == .noLibrary(plugIn: "Test gone", path: path))
        for name in ["text", "empty", "other"] {
            let error = failure(bundles, name)
            guard case .instantiationFailed(plugIn: "Test \(name)", 48_000, let log) = error else {
                Issue.record("\(name): \(String(describing: error))")
                continue
            }
            #expect(name == "other" || log.contains("library.so"), "\(log)")
        }
    }

    @Test func `NaN, infinite and huge samples become silence and are counted`() throws {
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

    @Test func `an absurd latency is clamped`() throws {
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

    @Test func `error messages say what happened in one line`() {
        let errors: [PlugInError] = [
            .notFound(name: "x", near: []), .notFound(name: "x", near: ["y"]),
            .badDescription(plugIn: "x", detail: "y"),
            .noLibrary(plugIn: "x", path: "y"), .requiresFeature(plugIn: "x", feature: "y"),
            .unsupportedPorts(plugIn: "x", detail: "y"),
            .unsupportedChannels(plugIn: "x", inputs: 4, outputs: 2, asked: 2),
            .instantiationFailed(plugIn: "x", sampleRate: 48_000, log: "y"),
        ]
        for error in errors {
            #expect("\(error)".contains("x") && !"\(error)".contains("\n"), "\(error)")
        }
    }
}
