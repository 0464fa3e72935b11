// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestSupport
import Testing

@testable import EarshotPlayout

/// A vowel: 30 harmonics of a gliding pitch, and breath 30 dB below them.
private func vowel(_ n: Int) -> Float {
    let phase = 200 * Double(n) / 48_000 + 5 * Double(n) * Double(n) / 48_000 / 48_000
    var random = SeededRandom(seed: UInt64(n))
    let breath = Float(random.unit() - 0.5) * 0.04
    return (1...30).reduce(breath) { $0 + sine(1, frequency: Double($1) * phase, rate: 1, amplitude: 0.3 / Double($1)) }
}

/// Returns a concealer's output for a sound with missing frames.
/// - Parameter block: the maximum frames per call.
private func heard(_ sound: [[Float]], lost: [Range<Int>], block: Int = 120, rate: Double = 48_000) -> [[Float]] {
    var concealer = Concealer(channelCount: sound.count, sampleRate: rate)
    let buffer = AudioBuffer(channelCount: sound.count, frameCapacity: block)
    var output = sound.map { _ in [Float]() }
    var at = 0
    while at < sound[0].count {
        let isLost = lost.contains { $0.contains(at) }
        let next = lost.flatMap { [$0.lowerBound, $0.upperBound] }.filter { $0 > at }.min() ?? .max
        let count = min(block, next - at, sound[0].count - at)
        for c in sound.indices { for i in 0..<count { buffer.channels[c][i] = isLost ? .nan : sound[c][at + i] } }
        if isLost {
            concealer.conceal(buffer.channels, offset: 0, frameCount: count)
        } else {
            concealer.pass(buffer.channels, offset: 0, frameCount: count)
        }
        for c in sound.indices {
            output[c].append(contentsOf: UnsafeBufferPointer(start: buffer.channels[c], count: count))
        }
        at += count
    }
    return output
}

private func rms(_ x: some Collection<Float>) -> Double {
    (x.reduce(0) { $0 + Double($1) * Double($1) } / Double(x.count)).squareRoot()
}

@Suite struct ConcealerTests {
    /// White noise between plus and minus `peak`.
    private func noise(_ count: Int, peak: Float, seed: UInt64 = 1) -> [Float] {
        var random = SeededRandom(seed: seed)
        return (0..<count).map { _ in peak * Float(random.unit() * 2 - 1) }
    }

    @Test(arguments: [120, 240, 480])
    func `a concealed vowel continues through a gap, and is unchanged from 60 frames after it`(gap: Int) {
        let sound = (0..<6_000).map(vowel)
        let output = heard([sound], lost: [4_000..<4_000 + gap])[0]
        #expect(errorDecibels(Array(sound[4_000..<4_000 + gap]), Array(output[4_000..<4_000 + gap])) < -10)
        #expect(Array(output[..<4_000]) == Array(sound[..<4_000]))
        #expect(Array(output[(4_060 + gap)...]) == Array(sound[(4_060 + gap)...]))
    }

    @Test func `no edge of a gap makes a click`() {
        let sound = (0..<30_000).map { sine($0, frequency: 440, rate: 48_000) }
        let lost = stride(from: 3_000, to: 27_000, by: 3_000).map { $0..<$0 + 120 }
        #expect(sineDefect(heard([sound], lost: lost)[0], frequency: 440, rate: 48_000) < -60)
        // The blend bridges a sound that has changed in a gap of 40 ms: a full step would be 0.5.
        let other = sound.enumerated().map { $0.offset < 4_000 ? $0.element : 0.5 }
        let output = heard([other], lost: [4_000..<5_920])[0]
        let steps = (4_000..<6_100).map { abs(output[$0] - output[$0 - 1]) }
        #expect(steps.max()! < 0.04)
    }

    @Test func `concealed samples do not depend on the block size`() {
        let sound = (0..<12_000).map { 0.5 * vowel($0) }
        let lost = [2_000..<2_120, 2_180..<2_300, 2_340..<5_800, 8_000..<8_001, 9_000..<9_930, 10_400..<11_900]
        let whole = heard([sound], lost: lost, block: 8_192)
        for block in [1, 7, 64, 120, 1_023] { #expect(heard([sound], lost: lost, block: block) == whole) }
    }

    @Test func `both stereo channels are concealed, whether equal, opposite or one alone`() {
        let sound = (0..<6_000).map(vowel)
        let gap = 4_000..<4_120
        for (left, right) in [(1, 1), (1, -1), (0.8, 0), (0, 1), (0.5, -0.4)] as [(Float, Float)] {
            let pair = [sound.map { left * $0 }, sound.map { right * $0 }]
            let output = heard(pair, lost: [gap])
            for (channel, level) in zip(0..<2, [left, right]) {
                if level == 0 {
                    #expect(output[channel][gap].allSatisfy { $0 == 0 })
                } else {
                    #expect(errorDecibels(Array(pair[channel][gap]), Array(output[channel][gap])) < -10)
                }
            }
        }
    }

    @Test func `a concealed loud tone fades to silence within 60 ms`() {
        let sound = (0..<20_000).map { sine($0, frequency: 440, rate: 48_000) }
        let output = heard([sound], lost: [4_800..<20_000])[0]
        #expect(rms(output[4_800..<5_280]) > 0.3)
        #expect(rms(output[6_500..<7_000]) < 0.21)
        #expect(output[(4_800 + 2_880)...].allSatisfy { $0 == 0 })
    }

    @Test func `a long gap after speech is filled with background noise, and is silent after 3 s`() {
        let background = noise(400_000, peak: 0.002)
        let sound = background.enumerated().map { $0.element + ((5_000..<20_000) ~= $0.offset ? vowel($0.offset) : 0) }
        let output = heard([sound], lost: [19_000..<400_000])[0]
        for at in stride(from: 19_000 + 3_000, to: 19_000 + 96_000, by: 9_600) {
            #expect(abs(decibels(rms(output[at..<at + 4_800]) / rms(background))) < 3)
        }
        let silent = 19_000 + 2_880 + 3 * 48_000
        #expect(output[silent...].allSatisfy { $0 == 0 })
    }

    @Test func `loud noise is not taken for a background`() {
        let output = heard([noise(60_000, peak: 0.1)], lost: [30_000..<60_000])[0]
        #expect(output[(30_000 + 2_880)...].allSatisfy { $0 == 0 })
    }

    @Test(arguments: 0..<8)
    func `concealment of losses of any length and order never exceeds full scale`(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let sound = (0..<48_000).map { n in
            seed.isMultiple(of: 2) ? (n / 4_000 % 2 == 0 ? vowel(n) : 0) : Float(random.unit() * 2 - 1)
        }
        var lost: [Range<Int>] = []
        var at = 500
        while at < 46_000 {
            let gap = 1 + Int(random.unit() * random.unit() * 2_000)
            lost.append(at..<at + gap)
            at += gap + 1 + Int(random.unit() * random.unit() * 2_000)
        }
        let output = heard([sound], lost: lost, block: 64)[0]
        #expect(output.allSatisfy { abs($0) <= 1 })
    }

    @Test func `gaps are concealed at sample rates from 8 to 192 kHz`() {
        for rate in [8_000.0, 16_000, 44_100, 96_000, 192_000] {
            let sound = (0..<6_000).map { sine($0, frequency: rate / 100, rate: rate) }
            let output = heard([sound], lost: [4_000..<4_120], rate: rate)[0]
            #expect(errorDecibels(Array(sound[4_000..<4_120]), Array(output[4_000..<4_120])) < -20)
        }
    }

    @Test func `a concealed tone is held for 20 ms, and fades linearly to silence in 40 ms more`() {
        let sound = (0..<12_000).map { sine($0, frequency: 1_000, rate: 48_000) }
        let output = heard([sound], lost: [4_800..<12_000])[0]
        // Two periods each.
        for (milliseconds, right) in [(1, 1.0), (10, 1), (19, 1), (30, 0.75), (40, 0.5), (50, 0.25), (58, 0.05)] {
            let at = 4_800 + 48 * milliseconds - 48
            let level = rms(output[at..<at + 96]) / rms(sound[..<4_800])
            // The prediction of a tone may grow, by a quarter at most.
            #expect(abs(level - right) < 0.08, "\(level) after \(milliseconds) ms")
        }
    }

    @Test func `a concealed background lasts for 2 s, and fades linearly to silence in one more second`() {
        let background = noise(300_000, peak: 0.003)
        let output = heard([background], lost: [48_000..<300_000])[0]
        for (seconds, right) in [(0.5, 1.0), (1.9, 1), (2.31, 0.75), (2.56, 0.5), (2.81, 0.25), (3.01, 0.05)] {
            let at = 48_000 + Int(seconds * 48_000) - 2_400
            let level = rms(output[at..<at + 4_800]) / rms(output[50_000..<140_000])
            #expect(abs(level - right) < 0.08, "\(level) after \(seconds) s")
        }
        #expect(output[(48_000 + 2_880 + 144_000)...].allSatisfy { $0 == 0 })
    }

    @Test(arguments: [(-47.0, true), (-43, false)])
    func `only noise below -45 dBFS is taken for a background`(level: Double, isBackground: Bool) {
        // The mean square of uniform noise is a third of its peak's square.
        let peak = Float(pow(10, level / 20) * 3.0.squareRoot())
        let output = heard([noise(60_000, peak: peak)], lost: [30_000..<60_000])[0]
        #expect((rms(output[40_000..<60_000]) > 0) == isBackground)
    }

    @Test func `a louder background is learned at a limited rate, and a quieter one at once`() {
        let (quiet, loud) = (noise(480_000, peak: 0.001), noise(480_000, peak: 0.004, seed: 2))
        /// Returns the level of the background if it is lost after this many seconds of the second sound, in decibels relative to
        /// that.
        func level(_ first: [Float], _ second: [Float], seconds: Double) -> Double {
            let end = 96_000 + Int(seconds * 48_000)
            let sound = Array(first[..<96_000] + second[96_000...])
            let output = heard([sound], lost: [end..<end + 48_000])[0]
            return decibels(rms(output[(end + 4_800)..<(end + 48_000)]) / rms(second))
        }
        // 12 dB, of which 3 are gained in a second.
        #expect(level(quiet, loud, seconds: 2) < -9)
        #expect(abs(level(quiet, loud, seconds: 5)) < 2)
        #expect(abs(level(loud, quiet, seconds: 0.1)) < 2)
    }

    @Test
    func
        `a gap of any length crossfades into the next frames for 1·25 ms, and restarts if a new gap begins in it`()
    {
        let sound = (0..<9_000).map { $0 < 4_000 ? sine($0, frequency: 440, rate: 48_000) : 0.25 }
        let output = heard([sound], lost: [4_000..<4_040])[0]
        #expect(output[4_040..<4_099].allSatisfy { $0 != 0.25 } && output[4_100...].allSatisfy { $0 == 0.25 })
        // Half-way through the blend its gain is one half.
        let alone = heard([sound], lost: [4_000..<9_000])[0]
        for (frame, share) in [(4_040, 0.5 / 60), (4_069, 29.5 / 60), (4_099, 59.5 / 60)] {
            let weight = share * share * (3 - 2 * share)
            let right = alone[frame] + (0.25 - alone[frame]) * Float(weight)
            #expect(abs(output[frame] - right) < 1e-4, "\(frame)")
        }
        let again = heard([sound], lost: [4_000..<4_040, 4_070..<4_100])[0]
        #expect(again[4_158] != 0.25 && again[4_160...].allSatisfy { $0 == 0.25 })
    }

    /// The beginning of the concealment that continues a tone of 0.1, by a step from the tone.
    @Test(arguments: [(0.0, false), (0.002, false), (0.02, true), (-0.1, true)])
    func `a codec's concealment is crossfaded only if it begins with a step`(step: Float, isCrossfaded: Bool) {
        var concealer = Concealer(channelCount: 1, sampleRate: 48_000)
        let sound = AudioBuffer(channelCount: 1, frameCapacity: 4_800)
        for i in 0..<4_800 { sound.channels[0][i] = sine(i, frequency: 100, rate: 48_000, amplitude: 0.1) }
        concealer.pass(sound.channels, offset: 0, frameCount: 2_400)
        for i in 2_400..<4_800 { sound.channels[0][i] += step }
        concealer.begin(before: sound.channels, offset: 2_400)
        let isActive = concealer.isActive
        #expect(isActive == isCrossfaded)
        concealer.pass(sound.channels, offset: 2_400, frameCount: 1_200)
        let steepest = (2_300..<2_600).map { abs(sound.channels[0][$0] - sound.channels[0][$0 - 1]) }.max() ?? 1
        #expect(steepest < 0.005, "the tone's slope is 0.0013, that of the crossfade up to 0.1 / 60")
    }

    /// 10 ms of sound for the background are complete 80 frames after the gap. They are quieter than all before.
    @Test func `the background does not change in the crossfade after a gap`() {
        func tone(_ frame: Int) -> Float { sine(frame, frequency: 100, rate: 48_000, amplitude: 0.06) }
        var concealer = Concealer(channelCount: 1, sampleRate: 48_000)
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 80)
        var output: [Float] = []
        for n in 0..<200 {
            let end = n * 80 - 10_000  // the frames since the gap
            for i in 0..<80 {
                let share = end + i < 0 ? 1 : min(1, Float(end + i) / 240)
                buffer.channels[0][i] = share * tone(end + i + 40)
            }
            if (-4_800..<0).contains(end) {
                concealer.conceal(buffer.channels, offset: 0, frameCount: 80)
            } else {
                if end == 0 { concealer.beginSmoothly() }
                concealer.pass(buffer.channels, offset: 0, frameCount: 80)
            }
            output += UnsafeBufferPointer(start: buffer.channels[0], count: 80)
        }
        let after = output[10_010..<10_300]
        let steps = zip(after.dropFirst(), after).map { abs($0 - $1) }
        #expect(steps.max() ?? 1 < 0.0015, "\(steps.max() ?? 1)")
    }
}
