// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestSupport
import Testing

@testable import EarshotPlayout

@Suite struct TimeScalerTests {
    /// Plays five seconds in blocks of 96, with a splice wherever one is allowed.
    private func play(
        rate: Double = 48_000, channels: Int = 1, similarity: Float = 0.85, _ says: (Int) -> Float,
        splice: (inout TimeScaler) -> Int
    ) -> (output: [Float], stretched: Int) {
        var scaler = TimeScaler(sampleRate: rate, channelCount: channels, maximumFrameCount: 96)
        let block = AudioBuffer(channelCount: channels, frameCapacity: 96)
        var output: [Float] = []
        var (n, stretched, since) = (0, 0, 0)
        while output.count < Int(5 * rate) {
            let wanted = scaler.longest + scaler.fade + 96
            scaler.reserve(wanted)
            let count = max(0, wanted - scaler.lead)
            for c in 0..<channels {
                for i in 0..<count { scaler.channels[c][scaler.end + i] = says(n + i) * (c == 0 ? 1 : 0.5) }
            }
            n += count
            scaler.append(count)
            since += 96
            if output.count > Int(0.1 * rate), since > Int(0.04 * rate) {
                let frames = splice(&scaler)
                stretched += frames
                if frames > 0 { since = 0 }
            }
            scaler.read(block.channels, offset: 0, frameCount: 96)
            output.append(contentsOf: UnsafeBufferPointer(start: block.channels[channels - 1], count: 96))
        }
        return (output, stretched)
    }

    @Test(arguments: [8_000.0, 44_100, 48_000, 96_000], [true, false])
    func `a sine is shortened or lengthened by whole periods without distortion`(rate: Double, isShorter: Bool) {
        let r = play(rate: rate, { sine($0, frequency: 441, rate: rate) }) { scaler in
            let most = scaler.longest
            return isShorter
                ? scaler.shorten(by: most, similarity: 0.85) : scaler.lengthen(by: most, similarity: 0.85)
        }
        #expect(r.stretched > Int(0.3 * rate), "\(r.stretched)")
        #expect(sineDefect(r.output, frequency: 441, rate: rate) < -38)
    }

    @Test func `a stretched voice keeps its pitch and has no click`() {
        let plain = play(voice) { _ in 0 }
        for isShorter in [true, false] {
            let r = play(channels: 2, voice) { scaler in
                isShorter ? scaler.shorten(by: 720, similarity: 0.85) : scaler.lengthen(by: 720, similarity: 0.85)
            }
            #expect(r.stretched > 24_000)
            #expect(steepest(r.output[...]) < 1.2 * steepest(plain.output[...]) / 2)
            // 120 Hz: 600 upward crossings in 5 s, which the 0.7 Hz vibrato moves.
            let rises = zip(r.output, r.output.dropFirst()).count { $0 < 0 && $1 >= 0 }
            #expect(abs(rises - 600) < 12, "\(rises)")
        }
    }

    @Test func `a stretch never exceeds its limit, and dissimilar sound is not stretched`() {
        let short = play(voice) { scaler in
            let frames = scaler.shorten(by: 500, similarity: 0.85)
            #expect(frames <= 500)
            return frames
        }
        #expect(short.stretched > 0)
        var random = SeededRandom(seed: 4)
        let noise = (0..<400_000).map { _ in Float(random.unit() - 0.5) }
        #expect(play({ noise[$0] }) { $0.shorten(by: 720, similarity: 0.85) }.stretched == 0)
        #expect(play({ noise[$0] }) { $0.lengthen(by: 720, similarity: 0.85) }.stretched == 0)
        #expect(play({ noise[$0] }) { $0.lengthen(by: 720, similarity: -1) }.stretched > 0)
        #expect(play({ _ in 0 }) { $0.shorten(by: 720, similarity: 0.85) }.stretched % 720 == 0)
    }

    @Test func `no stretch is made while too few frames are waiting`() {
        var scaler = TimeScaler(sampleRate: 48_000, channelCount: 1, maximumFrameCount: 96)
        scaler.append(scaler.fade + scaler.shortest - 1)
        #expect(scaler.shorten(by: 720, similarity: -1) == 0)
        var empty = TimeScaler(sampleRate: 48_000, channelCount: 1, maximumFrameCount: 96)
        #expect(empty.lengthen(by: 720, similarity: -1) == 0)
        empty.append(empty.fade - 1)
        #expect(empty.lengthen(by: 720, similarity: -1) == 0)
    }

    @Test(arguments: [(-56.0, true), (-52, false)])
    func `any stretch is accepted below -54 dBFS`(level: Double, isSilence: Bool) {
        var random = SeededRandom(seed: 4)
        let peak = pow(10, level / 20) * 3.0.squareRoot()
        let noise = (0..<400_000).map { _ in Float(peak * (2 * random.unit() - 1)) }
        let shorter = play({ noise[$0] }) { $0.shorten(by: 600, similarity: 0.85) }.stretched
        let longer = play({ noise[$0] }) { $0.lengthen(by: 600, similarity: 0.85) }.stretched
        #expect((shorter > 0) == isSilence && shorter % 600 == 0)
        #expect((longer > 0) == isSilence && longer % 600 == 0)
    }

    /// Soft periodic noise: only whole periods are alike.
    private func repeating(_ period: Int) -> (Int) -> Float {
        var random = SeededRandom(seed: 12)
        let noise = (0..<period).map { _ in Float(random.unit() - 0.5) }
        let soft = (0..<period).map { n in (0..<12).reduce(Float(0)) { $0 + noise[(n + $1) % period] / 4 } }
        return { soft[$0 % period] }
    }

    @Test(arguments: [(130, true), (400, true), (710, true), (730, false)])
    func `a stretch consists of whole periods and has 120 to 720 frames`(period: Int, isPossible: Bool) {
        for isShorter in [true, false] {
            var counts: Set<Int> = []
            let r = play(repeating(period)) { scaler in
                let count =
                    isShorter
                    ? scaler.shorten(by: 5_000, similarity: 0.85) : scaler.lengthen(by: 5_000, similarity: 0.85)
                if count > 0 { counts.insert(count) }
                return count
            }
            #expect((r.stretched > 0) == isPossible, "\(r.stretched)")
            #expect(counts.allSatisfy { (120...720).contains($0) && $0 % period == 0 }, "\(counts)")
        }
    }

    @Test func `a stretch of the minimum length is made, and no shorter one`() {
        for isShorter in [true, false] {
            func stretched(_ limit: Int) -> Int {
                play({ _ in 0 }) { scaler in
                    isShorter
                        ? scaler.shorten(by: limit, similarity: 0.85) : scaler.lengthen(by: limit, similarity: 0.85)
                }.stretched
            }
            #expect(stretched(119) == 0)
            #expect(stretched(120) > 0 && stretched(120) % 120 == 0)
        }
    }

    @Test func `the number of waiting frames is that of appended frames minus that of read ones`() {
        var scaler = TimeScaler(sampleRate: 48_000, channelCount: 2, maximumFrameCount: 128)
        let block = AudioBuffer(channelCount: 2, frameCapacity: 128)
        var (written, read) = (0, 0)
        for n in 0..<3_000 {
            let count = 1 + (n * 37) % 128
            scaler.reserve(count)
            for c in 0..<2 {
                for i in 0..<count { scaler.channels[c][scaler.end + i] = Float(written + i) * (c == 0 ? 1 : -1) }
            }
            scaler.append(count)
            written += count
            let wanted = min(scaler.lead, 1 + (n * 53) % 128)
            scaler.read(block.channels, offset: 0, frameCount: wanted)
            for i in 0..<wanted
            where block.channels[0][i] != Float(read + i) || block.channels[1][i] != -Float(read + i) {
                Issue.record("frame \(read + i)")
                return
            }
            read += wanted
            #expect(scaler.lead == written - read)
        }
        #expect(read > 150_000)
    }

    @Test func `a sine that is shortened and lengthened again by one period is unchanged`() {
        var scaler = TimeScaler(sampleRate: 48_000, channelCount: 1, maximumFrameCount: 4_096)
        scaler.reserve(3_000)
        for i in 0..<3_000 { scaler.channels[0][scaler.end + i] = sine(i, frequency: 200, rate: 48_000) }
        scaler.append(3_000)
        let block = AudioBuffer(channelCount: 1, frameCapacity: 3_000)
        scaler.read(block.channels, offset: 0, frameCount: 1_000)
        #expect(scaler.shorten(by: 300, similarity: 0.85) == 240)
        #expect(scaler.lead == 1_760)
        #expect(scaler.lengthen(by: 300, similarity: 0.85) == 240)
        #expect(scaler.lead == 2_000)
        scaler.read(block.channels, offset: 0, frameCount: 2_000)
        for i in 0..<2_000 {
            #expect(abs(block.channels[0][i] - sine(1_000 + i, frequency: 200, rate: 48_000)) < 1e-3, "\(i)")
        }
    }
}
