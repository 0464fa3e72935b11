// SPDX-License-Identifier: Apache-2.0

import EarshotAudioPlugIns
import Foundation
import TestSupport

/// Bundles in a temporary folder: given files, and plug-ins compiled from C for a test.
final class TestBundles {
    let folder: URL
    var catalog: PlugInCatalog { PlugInCatalog(path: folder.path) }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "earshot-lv2-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Writes a bundle of these files.
    func write(_ bundle: String, _ files: [String: Data]) throws {
        let place = folder.appending(path: "\(bundle).lv2")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        for (name, data) in files { try data.write(to: place.appending(path: name)) }
    }

    /// Writes a bundle of one plug-in, `urn:test:NAME`, with one audio input and one output.
    /// - Parameters:
    ///   - ports: control ports in Turtle from index 2 on, each without its brackets; the index is added.
    ///   - more: statements about the plug-in, such as `lv2:requiredFeature <urn:x> ;`.
    func write(_ name: String, ports: [String] = [], more: String = "", library: Data?) throws {
        let sound = ["Input", "Output"].enumerated().map { index, way in
            "a lv2:\(way)Port, lv2:AudioPort ; lv2:index \(index) ; lv2:symbol \"audio\(way)\" ; lv2:name \"\(way)\""
        }
        let all = sound + ports.enumerated().map { "\($1) ; lv2:index \($0 + 2)" }
        let turtle = """
            \(Self.prefixes)
            <urn:test:\(name)> a lv2:Plugin ; lv2:binary <library.so> ; doap:name "Test \(name)" ; \(more)
            lv2:port [ \(all.joined(separator: " ] , [ ")) ] .
            """
        var files = ["manifest.ttl": Data(turtle.utf8)]
        files["library.so"] = library
        try write(name, files)
    }

    static let prefixes = """
        @prefix lv2: <http://lv2plug.in/ns/lv2core#> .
        @prefix doap: <http://usefulinc.com/ns/doap#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
        @prefix units: <http://lv2plug.in/ns/extensions/units#> .
        @prefix pset: <http://lv2plug.in/ns/ext/presets#> .
        @prefix bufsz: <http://lv2plug.in/ns/ext/buf-size#> .
        """

    /// A control input in Turtle.
    static func control(_ symbol: String, _ more: String) -> String {
        "a lv2:InputPort, lv2:ControlPort ; lv2:symbol \"\(symbol)\" ; lv2:name \"\(symbol)\" ; \(more)"
    }

    /// A library whose plug-in `urn:test:NAME` applies `run` to the ports `in`, `out` and `control[0…]` for `n` frames.
    static func library(_ name: String, run: String, instantiate: String = "", more: String = "") throws -> Data {
        let source = """
            #include <lv2/core/lv2.h>
            #include <lv2/log/log.h>
            #include <math.h>
            #include <stdlib.h>
            #include <string.h>
            typedef struct { const float *in; float *out; float *control[64]; long runs, heard; } P;
            \(more)
            static LV2_Handle make(const LV2_Descriptor *d, double rate, const char *path, const LV2_Feature *const *f) {
                \(instantiate)
                return calloc(1, sizeof(P));
            }
            static void connect(LV2_Handle h, uint32_t port, void *data) {
                P *p = h;
                if (port == 0) p->in = data; else if (port == 1) p->out = data; else if (port < 66) p->control[port - 2] = data;
            }
            static void activate(LV2_Handle h) { ((P *)h)->runs = 0; }
            static void run(LV2_Handle h, uint32_t n) {
                P *p = h;
                const float *in = p->in; float *out = p->out; float **control = p->control;
                (void)in; (void)out; (void)control;
                \(run)
                p->runs++;
            }
            static void end(LV2_Handle h) { free(h); }
            static const LV2_Descriptor d = {"urn:test:\(name)", make, connect, activate, run, 0, end, 0};
            const LV2_Descriptor *lv2_descriptor(uint32_t i) { return i ? 0 : &d; }
            """
        let folder = FileManager.default.temporaryDirectory.appending(path: "earshot-cc-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(source.utf8).write(to: folder.appending(path: "p.c"))
        let library = folder.appending(path: "p.so")
        let compiler = try ChildProcess.run(
            ["cc", "-shared", "-fPIC", "-O1", "-o", library.path, folder.appending(path: "p.c").path])
        guard compiler.status == 0 else { throw CocoaError(.executableLoad) }
        return try Data(contentsOf: library)
    }
}
