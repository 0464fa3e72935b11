// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioPlugIns
import Foundation
import Testing

/// Plug-ins with RealtimeSanitizer (EARSHOT_BUILD=rtsan). The compiler cannot check them, but the sanitizer can.
@Suite struct PlugInRealtimeTests {
    /// Renders ten blocks with moving parameters under the sanitizer.
    private static func render(_ unit: UnitInstance) {
        let input = AudioBuffer(channelCount: 2, frameCapacity: 300)
        let output = AudioBuffer(channelCount: 2, frameCapacity: 300)
        for c in 0..<2 { for i in 0..<300 { input.channels[c][i] = Float(i % 50) / 100 } }
        let ends = [unit.description.parameters.map(\.range.lowerBound), unit.description.defaultValues]
        withExtendedLifetime((input, output)) {
            for pass in 0..<10 {
                let values = ends[pass % 2]
                values.withUnsafeBufferPointer { values in
                    earshot_realtime_enter()
                    if let values = values.baseAddress { unit.functions.callSet(unit.state, values, over: 32) }
                    let block = UnitBlock(input: input.channels, output: output.channels, offset: 0, frameCount: 300)
                    unit.functions.callProcess(unit.state, block)
                    earshot_realtime_exit()
                }
            }
        }
    }

    @Test(
        arguments: ["amp", "plate", "sc4", "fastLookaheadLimiter", "singlePara", "hilbert"],
        [nil, PlugInBlocks.fixed(64)])
    func plugInsRenderWithoutWaitingOrAllocating(name: String, blocks: PlugInBlocks?) throws {
        let unit = try swh(name).makeUnit(sampleRate: 48_000, channelCount: 2, blocks: blocks)
        for _ in 0..<2 { Self.render(unit) }
    }

    @Test(arguments: ["amp", "plate", "sc4", "fastLookaheadLimiter", "singlePara", "delay_n"])
    func resetNeitherWaitsNorAllocates(name: String) throws {
        let unit = try swh(name).makeUnit(sampleRate: 48_000, channelCount: 2)
        for _ in 0..<2 {
            Self.render(unit)
            earshot_realtime_enter()
            unit.functions.callReset(unit.state)
            unit.functions.callReset(unit.state)
            earshot_realtime_exit()
            Self.render(unit)
            earshot_realtime_enter()
            unit.functions.callReset(unit.state)
            earshot_realtime_exit()
        }
    }

    /// Proves that a plug-in's own code is checked, although it was loaded long after the program began.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["EARSHOT_BUILD"] == "rtsan"))
    func aPlugInThatAllocatesAborts() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let bundles = try TestBundles()
            let library = try TestBundles.library(
                "greedy", run: "memset(out, 0, n * 4); void *volatile m = malloc(n); free(m);")
            try bundles.write("greedy", library: library)
            let unit = try bundles.catalog.plugIn("urn:test:greedy").makeUnit(sampleRate: 48_000, channelCount: 2)
            PlugInRealtimeTests.render(unit)
        }
        let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(message.contains("RealtimeSanitizer: unsafe-library-call") && message.contains("malloc"))
    }
}
