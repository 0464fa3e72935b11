// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestSupport
import Testing

@testable import EarshotLiveCall

/// The judgement of a recorded microphone.
@Suite struct SoundCheckFindingTests {
    private static let rate = 48_000.0

    private static func tone(_ amplitude: Double, seconds: Double = 2) -> [Float] {
        (0..<Int(seconds * rate)).map { sine($0, frequency: 440, rate: rate, amplitude: amplitude) }
    }

    private static func finding(_ samples: [Float]) -> SoundCheck.Finding {
        SoundCheck.Finding(samples, sampleRate: rate)
    }

    @Test(arguments: [0.8, 0.1, 0.01]) func `a tone is fine, with its level and its peak`(amplitude: Double) throws {
        let finding = Self.finding(Self.tone(amplitude))
        #expect(finding.isFine && finding.name == "fine")
        let levels = try #require(finding.levels)
        #expect(abs(levels.peak - 20 * log10(amplitude)) < 0.05, "\(levels)")
        #expect(abs(levels.level - 20 * log10(amplitude / 2.0.squareRoot())) < 0.05, "\(levels)")
    }

    @Test(arguments: [UInt64](1...5)) func `noise has its level, whatever its seed`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let noise = (0..<96_000).map { _ in Float(0.2 * random.unit() - 0.1) }
        let levels = try #require(Self.finding(noise).levels)
        #expect(abs(levels.level - 20 * log10(0.1 / 3.0.squareRoot())) < 0.3, "\(levels)")
    }

    @Test func `below -50 dBFS a voice is too quiet`() {
        // The RMS level of a tone is 3 dB below its amplitude.
        #expect(Self.finding(Self.tone(pow(10, -46.5 / 20))).name == "fine")
        #expect(Self.finding(Self.tone(pow(10, -47.5 / 20))).name == "tooQuiet")
    }

    @Test func `a short word decides, not the silence around it`() {
        var samples = [Float](repeating: 0.000_1, count: 96_000)
        samples.replaceSubrange(50_000..<64_400, with: Self.tone(0.1, seconds: 0.3))
        #expect(Self.finding(samples).name == "fine")
    }

    @Test func `zeros are digital silence, and a single other sample is not`() {
        var samples = [Float](repeating: 0, count: 96_000)
        #expect(Self.finding(samples) == .digitalSilence)
        samples[40_000] = 1 / 32_768
        #expect(Self.finding(samples).name == "tooQuiet")
        #expect(Self.finding([]) == .digitalSilence)
    }

    @Test func `many samples at full scale are clipping, and a single pop is not`() {
        var samples = Self.tone(0.1)
        samples[10_000] = 1
        samples[10_001] = -1
        #expect(Self.finding(samples).name == "fine")
        let loud = Self.tone(2).map { max(-1, min(1, $0)) }
        #expect(Self.finding(loud).name == "clipping")
        // Two windows of 100 ms are a tenth of the recording, three are more.
        for (windowCount, name) in [(2, "fine"), (3, "clipping")] {
            var words = Self.tone(0.1)
            words.replaceSubrange(0..<windowCount * 4_800, with: loud[0..<windowCount * 4_800])
            #expect(Self.finding(words).name == name, "\(windowCount)")
        }
    }
}
