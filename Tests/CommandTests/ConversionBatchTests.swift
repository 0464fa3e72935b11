// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import Testing

@testable import earshot

@Suite struct ConversionBatchTests {
    private func outcomes(
        of conversions: [SoundFileConversion], keepsBits: Bool = true, isCancelled: @escaping @Sendable () -> Bool
    ) -> [ConversionBatch.Outcome] {
        let batch = ConversionBatch(conversions, keepsBits: keepsBits, isCancelled: isCancelled)
        batch.start(jobs: 2)
        while !batch.wait(seconds: 1) {}
        return batch.results
    }

    @Test func `after cancellation no further file is opened`() throws {
        let scratch = try Scratch()
        try Recorded.write([[0, 0.5, 0]], to: scratch("a.wav"))
        // A file that was opened would be missing rather than cancelled.
        let conversions = ["a", "none", "nowhere/none"].map {
            SoundFileConversion(from: scratch("\($0).wav"), to: scratch("\($0).flac"))
        }
        let all = outcomes(of: conversions) { true }
        #expect(all.count == 3)
        for outcome in all {
            guard case .failure(.cancelled) = outcome.result else {
                Issue.record("\(outcome.result)")
                continue
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["a.wav"])
    }

    @Test func `the bit depth of an input is kept where requested`() throws {
        let scratch = try Scratch()
        try Recorded.write([[0, 0.5, 0]], to: scratch("16.wav"))
        let cases: [(String, AudioFileType, Bool, Int)] = [
            ("a.wav", .rf64, true, 16), ("b.wav", .rf64, false, 32), ("c.flac", .flac, true, 16),
        ]
        for (name, type, keepsBits, bits) in cases {
            var conversion = SoundFileConversion(from: scratch("16.wav"), to: scratch(name))
            conversion.type = type
            let all = outcomes(of: [conversion], keepsBits: keepsBits) { false }
            #expect(try all[0].result.get().frameCount == 3)
            #expect(try SoundFiles.info(scratch(name)).bitDepth == bits, "\(name)")
        }
    }
}
