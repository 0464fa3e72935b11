// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDiagnostics
import Foundation
import TestTraits
import Testing

@Suite(.optimized) struct DelayMeasurementTests {
    private let start = HostTime(nanoseconds: 5_000_000_000)
    private let voice = Voice()

    @Test(
        "A known delay is measured to within 15 µs",
        arguments: [
            (0.0, (16_000.0, 16_000.0)), (0.0761234, (16_000, 16_000)), (1.9, (16_000, 16_000)), (2.0, (8_000, 8_000)),
            (0.08333333, (48_000, 44_100)), (0.0, (8_000, 48_000)), (0.3, (16_000, 48_000)),
        ])
    func known(delay: Double, rates: (Double, Double)) throws {
        let sent = voice.recorded(3, rate: rates.0, at: start)
        let heard = voice.recorded(3 + delay, rate: rates.1, at: start) { _ in delay }
        let result = try DelayMeasurement(sent: sent, heard: heard)
        #expect(abs(result.milliseconds - delay * 1000) < 0.015)
        #expect(abs(result.minimum - delay * 1000) < 0.02 && abs(result.maximum - delay * 1000) < 0.02)
        #expect(result.confidence > 0.7)
        #expect(result.windows.count == 3)
        #expect(abs(result.driftMillisecondsPerMinute) < 0.5)
    }

    @Test("The delay is measured by the clock, not from the start of the files", arguments: [-1.37, 0.25, 0.9001])
    func clocks(later: Double) throws {
        // The listener's file begins `later` than the sender's; the sound itself takes 80 ms.
        let sent = voice.recorded(4, rate: 16_000, at: start)
        let heard = voice.recorded(6, rate: 16_000, at: start.advanced(bySeconds: later)) { _ in 0.08 - later }
        let result = try DelayMeasurement(sent: sent, heard: heard)
        #expect(abs(result.milliseconds - 80) < 0.01)
    }

    @Test("Noise lowers the confidence, not the precision", arguments: [20.0, 6, 0])
    func noise(decibels: Double) throws {
        let sent = voice.recorded(6, rate: 16_000, at: start)
        var heard = voice.recorded(6.5, rate: 16_000, at: start) { _ in 0.1234 }
        let power = heard.samples.reduce(0) { $0 + $1 * $1 } / Float(heard.samples.count)
        let gain = (3 * power).squareRoot() * Float(pow(10, -decibels / 20))  // of noise even in −1 to 1
        var noise = Noise(seed: 3)
        for i in heard.samples.indices { heard.samples[i] += gain * noise.next() }
        let result = try DelayMeasurement(sent: sent, heard: heard)
        #expect(abs(result.milliseconds - 123.4) < 0.1)
        #expect(result.confidence > (decibels > 10 ? 0.8 : 0.2))
    }

    @Test("Clock drift is measured", arguments: [-300.0, -20, 100, 300])
    func drift(partsPerMillion: Double) throws {
        let sent = voice.recorded(12, rate: 16_000, at: start)
        let heard = voice.recorded(12, rate: 16_000, at: start) { 0.08 + $0 * partsPerMillion * 1e-6 }
        let result = try DelayMeasurement(sent: sent, heard: heard)
        #expect(abs(result.driftMillisecondsPerMinute - partsPerMillion * 0.06) < 0.5)
        #expect(result.maximum - result.minimum > 11e-3 * partsPerMillion.magnitude * 0.9)
        #expect(result.confidence > 0.3)
    }

    @Test func aJumpInMidCallShowsInTheWindows() throws {
        let sent = voice.recorded(10, rate: 16_000, at: start)
        let heard = voice.recorded(10, rate: 16_000, at: start) { $0 < 7 ? 0.08 : 0.12 }
        let result = try DelayMeasurement(sent: sent, heard: heard)
        #expect(abs(result.p50 - 80) < 0.02 && abs(result.p95 - 120) < 0.02)
        #expect(abs(result.minimum - 80) < 0.02 && abs(result.maximum - 120) < 0.02)
    }

    @Test func pausesAreLeftOut() throws {
        var sent = voice.recorded(6, rate: 16_000, at: start)
        var heard = voice.recorded(6, rate: 16_000, at: start) { _ in 0.05 }
        for i in 32_000..<64_000 { sent.samples[i] = 0 }
        for i in 32_800..<64_800 { heard.samples[i] = 0 }
        let result = try DelayMeasurement(sent: sent, heard: heard)
        #expect(result.windows.map(\.start) == [0, 1, 4, 5])
        #expect(abs(result.minimum - 50) < 0.02 && abs(result.maximum - 50) < 0.02)
    }

    @Test func musicThatRepeatsIsPlacedByWhatChanges() throws {
        // A loop of half a second under a voice: within the search range the loop alone fits at four delays.
        let loop = voice.recorded(0.5, rate: 16_000, at: start).samples
        let melody = Voice(seed: 9)
        func mixed(_ delay: Double) -> TimedSignal {
            var sound = melody.recorded(8, rate: 16_000, at: start) { _ in delay }
            let shift = Int(delay * 16_000)
            for i in shift..<sound.samples.count { sound.samples[i] += loop[(i - shift) % 8000] }
            return sound
        }
        let result = try DelayMeasurement(sent: mixed(0), heard: mixed(0.75))
        #expect(abs(result.minimum - 750) < 0.02 && abs(result.maximum - 750) < 0.02)
    }

    @Test func whatCannotBeMeasuredSaysWhy() throws {
        let sent = voice.recorded(4, rate: 16_000, at: start)
        let silence = TimedSignal(
            samples: [Float](repeating: 0, count: 64_000), sampleRate: 16_000, firstFrameTime: start)
        let nothing = TimedSignal(samples: [], sampleRate: 48_000, firstFrameTime: start)
        #expect(throws: DelayMeasurementError.heardIsSilent) { try DelayMeasurement(sent: sent, heard: silence) }
        #expect(throws: DelayMeasurementError.heardIsSilent) { try DelayMeasurement(sent: sent, heard: nothing) }
        #expect(throws: DelayMeasurementError.sentIsSilent) { try DelayMeasurement(sent: silence, heard: sent) }
        #expect(throws: DelayMeasurementError.tooShort) { try DelayMeasurement(sent: nothing, heard: sent) }
        #expect(throws: DelayMeasurementError.noMatch) {
            try DelayMeasurement(sent: sent, heard: Voice(seed: 77).recorded(5, rate: 16_000, at: start))
        }
        var later = sent
        later.firstFrameTime = start.advanced(bySeconds: 60)
        #expect(throws: DelayMeasurementError.noOverlap) { try DelayMeasurement(sent: sent, heard: later) }
        var broken = sent
        for i in broken.samples.indices { broken.samples[i] = i % 3 == 0 ? .nan : .infinity }
        #expect(throws: DelayMeasurementError.self) { try DelayMeasurement(sent: sent, heard: broken) }
    }

    @Test func aSteadyToneIsAmbiguous() {
        let tone = TimedSignal(
            samples: (0..<64_000).map { Float(sin(Double($0) * 0.2)) }, sampleRate: 16_000, firstFrameTime: start)
        #expect(throws: DelayMeasurementError.ambiguous) { try DelayMeasurement(sent: tone, heard: tone) }
    }

    @Test func theResultSurvivesJSON() throws {
        let sent = voice.recorded(2, rate: 16_000, at: start)
        let result = try DelayMeasurement(sent: sent, heard: sent)
        let data = try JSONEncoder().encode(result)
        #expect(try JSONDecoder().decode(DelayMeasurement.self, from: data) == result)
    }
}
