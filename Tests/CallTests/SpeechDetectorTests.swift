// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import TestSupport
import Testing

@testable import EarshotCall

@Suite struct SpeechDetectorTests {
    typealias Part = (decibels: Double, seconds: Double)

    private func repeated(_ count: Int, _ parts: [Part]) -> [Part] {
        Array(repeatElement(parts, count: count).joined())
    }

    /// Returns the seconds at which the state changed, for levels in dBFS that each last a while.
    private func changes(_ parts: [Part], rate: Double = 48_000, block: Int = 256)
        -> [Double]
    {
        var detector = SpeechDetector(sampleRate: rate)
        var changes: [Double] = []
        var frame = 0
        var end = 0.0
        for part in parts {
            end += part.seconds
            let gain = part.decibels < -150 ? 0 : decibelsToGain(Float(part.decibels))
            while Double(frame) < end * rate {
                let before = detector.isSpeaking
                detector.update(meanSquare: gain * gain, frameCount: block)
                frame += block
                if detector.isSpeaking != before { changes.append(Double(frame) / rate) }
            }
        }
        return changes
    }

    @Test(arguments: [(48_000.0, 1), (48_000, 64), (44_100, 470), (8_000, 33), (96_000, 4_096)])
    func `speaking begins 50 ms after the voice and ends 400 ms after it, at any block size`(
        rate: Double, block: Int
    ) throws {
        let found = changes([(-60, 1), (-25, 1), (-60, 2)], rate: rate, block: block)
        try #require(found.count == 2, "\(found)")
        let grain = 2 * Double(block) / rate + 0.011
        #expect(found[0] >= 1.049 && found[0] < 1.05 + grain, "\(found)")
        #expect(found[1] >= 2.389 && found[1] < 2.4 + grain, "\(found)")
    }

    @Test func `pauses between words do not end the speaking state`() {
        let words = repeated(10, [(-25, 0.25), (-60, 0.3)])
        #expect(changes(words + [(-60, 1)]).count == 2)
    }

    @Test func `clicks are not detected as speech`() {
        let clicks = repeated(20, [(-10, 0.02), (-60, 0.2)])
        #expect(changes(clicks) == [])
    }

    @Test(arguments: [-50.0, -45, -41])
    func `steady noise soon stops counting as speech, and a voice above it is still detected`(
        noise: Double
    ) throws {
        let found = changes([(noise, 8), (noise + 15, 1), (noise, 1)])
        #expect(found.count == 2 || found.count == 4, "\(found)")
        let voice = found.suffix(2)
        #expect(try #require(voice.first) > 8 && #require(voice.last) < 9.5)
        if found.count == 4 { #expect(found[1] < 6) }
    }

    @Test func `a continuous tone stays detected as speech`() { #expect(changes([(-60, 1), (-25, 120)]).count == 1) }

    @Test func `a whisper in a quiet room is detected as speech`() {
        #expect(changes([(-75, 3), (-55, 1), (-75, 1)]).count == 2)
    }

    @Test func `digital silence is not taken for a quiet room`() {
        // Muted for a minute; after that the same noise as before is not speech.
        #expect(changes([(-50, 5), (-200, 60), (-50, 5)]) == [])
    }

    @Test func `NaN and infinite levels are not detected as speech and have no lasting effect`() {
        var detector = SpeechDetector(sampleRate: 48_000)
        for value in [Float.nan, .infinity, .nan, 0] {
            for _ in 0..<3 { detector.update(meanSquare: value, frameCount: 480) }
        }
        for _ in 0..<100 { detector.update(meanSquare: 1e-6, frameCount: 480) }
        #expect(!detector.isSpeaking)
        for _ in 0..<10 { detector.update(meanSquare: 0.01, frameCount: 480) }
        #expect(detector.isSpeaking)
    }

    @Test func `a meter's peak falls by 20 dB a second`() {
        var meter = VoiceMeter(sampleRate: 48_000)
        var loud = Level()
        loud.peak = 0.5
        meter.update(loud, frameCount: 256)
        #expect(meter.level.peak == 0.5)
        for _ in 0..<188 { meter.update(Level(), frameCount: 256) }
        #expect(abs(decibels(Double(meter.level.peak)) - decibels(0.05)) < 0.2)
    }
}
