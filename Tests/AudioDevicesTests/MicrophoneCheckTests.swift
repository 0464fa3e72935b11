// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import EarshotAudioDevices
import Foundation
import Testing

@Suite struct MicrophoneCheckTests {
    /// A block with this RMS and peak in decibels of full scale.
    private func level(_ rms: Double, peak: Double? = nil) -> Level {
        var level = Level()
        level.meanSquare = Float(pow(10, rms / 10))
        level.peak = Float(pow(10, (peak ?? rms) / 20))
        return level
    }

    /// Adds this many seconds of a level; returns the findings.
    @discardableResult
    private func feed(
        _ check: inout MicrophoneCheck, _ level: Level, _ seconds: Double, block: Int = 480, rate: Double = 48_000
    ) -> [MicrophoneCheck.Finding] {
        var found: [MicrophoneCheck.Finding] = []
        for _ in 0..<Int((seconds * rate / Double(block)).rounded()) where check.update(level, frameCount: block) {
            found.append(check.finding)
        }
        return found
    }

    @Test(arguments: [1, 63, 470, 4_096, 8_192], [8_000.0, 44_100, 192_000])
    func `digital silence is detected after 0.45 s at any block size`(block: Int, rate: Double) {
        var check = MicrophoneCheck(sampleRate: rate)
        let frames = Int(rate * 0.45)
        var fed = 0
        while fed + block < frames {
            check.update(Level(), frameCount: block)
            fed += block
        }
        #expect(check.finding == .fine)
        let hasChanged = check.update(Level(), frameCount: block)
        #expect(hasChanged && check.finding == .digitalSilence)
    }

    @Test func `one block that is not zero restarts the count of zeros`() {
        var check = MicrophoneCheck(sampleRate: 48_000)
        for _ in 0..<20 {
            #expect(feed(&check, Level(), 0.4).isEmpty)
            #expect(feed(&check, level(-40), 0.01).isEmpty)
        }
        #expect(feed(&check, Level(), 0.5) == [.digitalSilence])
    }

    @Test func `a microphone with a noise gate is reported once, and then only after 5 s`() {
        var check = MicrophoneCheck(sampleRate: 48_000)
        var found: [MicrophoneCheck.Finding] = []
        for _ in 0..<10 { found += feed(&check, Level(), 3) + feed(&check, level(-30), 1) }
        #expect(found == [.digitalSilence, .fine])
        #expect(feed(&check, Level(), 5.2) == [.digitalSilence])
    }

    @Test func `zeros at the beginning of a new route count only after 0.5 s`() {
        var check = MicrophoneCheck(sampleRate: 48_000)
        feed(&check, level(-40), 2)
        check.noteRouteChange()
        #expect(feed(&check, Level(), 0.9).isEmpty)
        #expect(feed(&check, Level(), 0.1) == [.digitalSilence])
        check.noteRouteChange()
        #expect(feed(&check, Level(), 8).isEmpty, "it is known already")
    }

    @Test func `the hiss of a muted converter is silence, but not digital silence`() {
        var check = MicrophoneCheck(sampleRate: 48_000)
        #expect(feed(&check, level(-95, peak: -85), 6) == [.silent])
    }

    @Test func `a quiet room is not reported as silence`() {
        var check = MicrophoneCheck(sampleRate: 48_000)
        #expect(feed(&check, level(-88, peak: -75), 60).isEmpty)
    }

    @Test func `a sound in between restarts the 5 s of silence`() {
        var check = MicrophoneCheck(sampleRate: 48_000)
        for _ in 0..<5 {
            #expect(feed(&check, level(-100), 4.5).isEmpty)
            #expect(feed(&check, level(-40), 0.1).isEmpty)
        }
        #expect(feed(&check, level(-100), 5.2) == [.silent])
    }

    @Test func `sustained sound ends silence, but a click or a level at the threshold does not`() {
        var check = MicrophoneCheck(sampleRate: 48_000)
        feed(&check, level(-100), 6)
        #expect(feed(&check, level(-20), 0.01).isEmpty)
        #expect(feed(&check, level(-100), 1).isEmpty)
        #expect(feed(&check, level(-87), 1).isEmpty && check.finding == .silent)
        #expect(feed(&check, level(-60), 0.4) == [.fine])
    }

    @Test func `digital silence that turns into hiss is still silence`() {
        var check = MicrophoneCheck(sampleRate: 48_000)
        #expect(feed(&check, Level(), 6) == [.digitalSilence])
        #expect(feed(&check, level(-100), 6) == [.silent])
    }

    @Test func `clipping is detected when it persists and ends when it is rare`() {
        var check = MicrophoneCheck(sampleRate: 48_000)
        let clipped = level(-3, peak: 0)
        var found: [MicrophoneCheck.Finding] = []
        for _ in 0..<20 {  // one window in three
            found += feed(&check, clipped, 0.1) + feed(&check, level(-10), 0.2)
        }
        #expect(found == [.clipping])
        #expect(feed(&check, level(-10), 3).isEmpty)
        #expect(feed(&check, level(-10), 3) == [.fine])
    }

    @Test func `an occasional loud note is not clipping`() {
        var check = MicrophoneCheck(sampleRate: 48_000)
        for _ in 0..<20 {
            #expect(feed(&check, level(-3, peak: 0), 0.05).isEmpty)
            #expect(feed(&check, level(-10), 0.95).isEmpty)
        }
    }

    @Test func `full scale of a 16-bit converter is clipping, slightly below it is not`() {
        for (peak, isClipping) in [(Float(32_767) / 32_768, true), (0.999, false)] {
            var check = MicrophoneCheck(sampleRate: 48_000)
            var loud = level(-3)
            loud.peak = peak
            feed(&check, loud, 6)
            #expect((check.finding == .clipping) == isClipping)
        }
    }

    @Test func `a new microphone restarts the check`() {
        var check = MicrophoneCheck(sampleRate: 48_000)
        feed(&check, Level(), 6)
        check.reset()
        #expect(check.finding == .fine)
        #expect(feed(&check, Level(), 0.4).isEmpty)
        #expect(feed(&check, Level(), 0.1) == [.digitalSilence])
    }

    @Test func `NaN levels do no harm`() {
        var check = MicrophoneCheck(sampleRate: 48_000)
        var broken = Level()
        broken.meanSquare = .nan
        broken.peak = .nan
        #expect(feed(&check, broken, 10).allSatisfy { $0 == .digitalSilence })
    }
}
