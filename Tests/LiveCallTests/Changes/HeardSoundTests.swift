// SPDX-License-Identifier: Apache-2.0

import EngineMeasures
import Foundation
import TestSupport
import Testing

/// The detector of clicks and gaps finds abrupt changes, and only those.
@Suite struct HeardSoundTests {
    private static let frameCount = 48_000

    /// Returns the sum of two persons' tones, each times a gain.
    private func sound(_ gains: (_ person: Int, _ frame: Int) -> Double) -> [Float] {
        let tones = (0..<2).map { ChangedCall.tone(frequency: ChangedCall.frequencies[$0]) }
        return (0..<Self.frameCount).map { frame in
            tones.indices.reduce(Float(0)) { sum, person in
                sum + Float(gains(person, frame)) * tones[person][(frame + 100) % tones[person].count]
            }
        }
    }

    @Test func `steady tones and the ramps of a call are no clicks`() {
        #expect(HeardSound(sound { _, _ in 1 }).clickLevels.dropFirst(2).max() ?? 0 < -75)
        let ramp = sound { person, frame in person == 1 ? 1 : max(0, min(1.5, Double(frame - 24_000) / 160)) }
        let level = HeardSound(ramp).clickLevels.dropFirst(2).max() ?? 0
        #expect(level < HeardSound.clickLimit, "\(level)")
    }

    @Test(arguments: [24_010, 24_090, 24_321, 24_437])
    func `a step of one decibel and a hard mute are clicks`(frame: Int) {
        for gain in [decibelsToFactor(1), decibelsToFactor(-1), 0] {
            let step = sound { person, at in person == 0 && at >= frame ? gain : 1 }
            let level = HeardSound(step).clickLevels.dropFirst(2).max() ?? -240
            #expect(level > HeardSound.clickLimit, "\(gain): \(level)")
        }
    }

    @Test func `a ramp that is too short is a click`() {
        let ramp = sound { person, frame in person == 1 ? 1 : max(0, min(1, Double(frame - 24_000) / 16)) }
        #expect(HeardSound(ramp).clickLevels.dropFirst(2).max() ?? -240 > HeardSound.clickLimit)
    }

    @Test(arguments: [64, 128, 256])
    func `a lost block is a click and a gap`(blockFrameCount: Int) {
        let lost = sound { person, frame in person == 0 && (24_444..<24_444 + blockFrameCount).contains(frame) ? 0 : 1 }
        let sound = HeardSound(lost)
        #expect(sound.clickLevels.dropFirst(2).max() ?? -240 > HeardSound.clickLimit)
        let missing = sound.amplitudes.map {
            HeardSound.missingFrames(amplitude: $0[0], expected: ChangedCall.amplitude)
        }
        #expect(missing.filter { $0 > 0 }.count == 1, "\(missing.max() ?? 0)")
    }

    @Test func `a faded gap is no click but a gap`() {
        let gap = sound { person, frame in person == 0 ? 1 - max(0, min(1, 3 - abs(Double(frame - 24_480)) / 240)) : 1 }
        let sound = HeardSound(gap)
        #expect(sound.clickLevels.dropFirst(2).max() ?? 0 < HeardSound.clickLimit)
        let missing = sound.amplitudes.map {
            HeardSound.missingFrames(amplitude: $0[0], expected: ChangedCall.amplitude)
        }
        #expect(missing.max() ?? 0 > 900 && missing.prefix(20).allSatisfy { $0 == 0 })
    }

    private func decibelsToFactor(_ decibels: Double) -> Double { pow(10, decibels / 20) }
}
