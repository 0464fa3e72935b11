// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite struct RenderRulesTests {
    /// Every function by which the render thread enters the modules' states and kernels is `@_noLocks`.
    @Test(arguments: [("AudioEngine", 10), ("AudioDSP", 27), ("AudioPlugIns", 3), ("AudioCodecs", 9), ("Playout", 2)])
    func everyRenderFunctionIsProven(module: String, least: Int) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/\(module)")
        let files = try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".swift") }
        let rules = RenderRules(
            try files.map { ($0, try String(contentsOf: root.appending(path: $0), encoding: .utf8)) })
        #expect(rules.violations == [])
        #expect(rules.entries.count >= least)
        if module == "AudioEngine" { #expect(rules.entries.isSuperset(of: RenderRules.exceptions)) }
    }

    private static let state = """
        struct PassthroughState: ~Copyable {
            static var function: RenderFunction {
                { state, call in
                    state.assumingMemoryBound(to: PassthroughState.self).pointee.process(
                        call.assumingMemoryBound(to: RenderCall.self).pointee)
                }
            }

            /// Renders.
            @_noLocks
            mutating func process(_ call: RenderCall) {}
        }
        """
    private static let kernel = """
        struct GainKernel: UnitKernel, ~Copyable {
            @_noLocks
            mutating func set(_ values: UnsafePointer<Float>, over frameCount: Int) {}
            @_noLocks mutating func process(_ block: UnitBlock) {}
            static var functions: UnitFunctions {
                UnitFunctions(
                    set: { $0.assumingMemoryBound(to: Self.self).pointee.set($1, over: $2) },
                    process: { state, block in
                        state.assumingMemoryBound(to: Self.self).pointee.process(
                            block.assumingMemoryBound(to: UnitBlock.self).pointee)
                    },
                    reset: { $0.assumingMemoryBound(to: Self.self).pointee.reset() })
            }
        }
        extension GainKernel {
            @_noLocks
            mutating func reset() {}
        }
        """

    private static let decoder = """
        struct ToneDecoder: BitwiseCopyable {
            @_noLocks
            func decode(_ call: DecoderCall) -> Int { 0 }
            @_noLocks func reset() {}
            static var functions: RenderDecoderFunctions {
                RenderDecoderFunctions(
                    decode: {
                        $0.assumingMemoryBound(to: ToneDecoder.self).pointee.decode(
                            $1.assumingMemoryBound(to: DecoderCall.self).pointee)
                    },
                    reset: { $0.assumingMemoryBound(to: ToneDecoder.self).pointee.reset() })
            }
        }
        """

    @Test func soundStatesAndKernelsPass() {
        let rules = RenderRules([("P.swift", Self.state), ("G.swift", Self.kernel), ("T.swift", Self.decoder)])
        #expect(rules.violations == [])
        let entries: Set = [
            "PassthroughState.process", "GainKernel.set", "GainKernel.process", "GainKernel.reset",
            "ToneDecoder.decode",
            "ToneDecoder.reset",
        ]
        #expect(rules.entries == entries)
    }

    @Test(arguments: [
        ("@_noLocks func reset", "func reset", "ToneDecoder.reset runs on the render thread without"),
        ("reset: { $0", "reset: { count += 1; $0", "decoder are not thunks of one line"),
        ("pointee.reset()", "pointee.decode()", "decoder are not thunks of one line"),
    ])
    func aDecoderThatIsNotProvenIsFound(old: String, new: String, sentence: String) {
        let decoder = Self.decoder.replacing(old, with: new)
        #expect(decoder != Self.decoder)
        let rules = RenderRules([("T.swift", decoder)])
        #expect(rules.violations.contains { $0.contains(sentence) }, "\(rules.violations)")
    }

    @Test(arguments: [
        (
            "            /// Renders.\n    @_noLocks\n", "",
            "P.swift: PassthroughState.process runs on the render thread without @_noLocks"
        ),
        ("@_noLocks mutating func process", "mutating func process", "without @_noLocks"),
        ("@_noLocks\n    mutating func reset", "mutating func reset", "G.swift: GainKernel.reset runs"),
        (
            "@_noLocks\n    mutating func process", "// @_noLocks\n    mutating func process",
            "PassthroughState.process runs"
        ),
        ("{ state, call in", "{ state, call in print(1)", "function is not a thunk of one line"),
        ("set: { $0", "set: { count += 1; $0", "the functions of GainKernel are not thunks of one line"),
        ("mutating func reset() {}", "", "GainKernel.reset runs on the render thread and was not found"),
        (
            "static var function: ", "let memory = RenderMemory(a) { _, _ in work() }\nstatic var function: ",
            "where it is used"
        ),
    ])
    func whatIsWrongIsFound(old: String, new: String, sentence: String) {
        let state = Self.state.replacing(old.replacing("            /// Renders.", with: "    /// Renders."), with: new)
        let kernel = Self.kernel.replacing(old, with: new)
        #expect(state != Self.state || kernel != Self.kernel)
        let rules = RenderRules([("P.swift", state), ("G.swift", kernel)])
        #expect(rules.violations.contains { $0.contains(sentence) }, "\(rules.violations)")
    }
}
