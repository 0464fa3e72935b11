import AudioBase
import Testing
import TestSupport

@testable import Playout

@Suite struct TimeScalerTests {
    /// Plays five seconds in blocks of 96, with a splice wherever one is allowed.
    private func play(
        rate: Double = 48_000, channels: Int = 1, likeness: Float = 0.85, _ says: (Int) -> Float,
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
    func `a sine loses or gains periods without a trace`(rate: Double, isShorter: Bool) {
        let r = play(rate: rate, { sine($0, frequency: 441, rate: rate) }) { scaler in
            let most = scaler.longest
            return isShorter
                ? scaler.shorten(by: most, likeness: 0.85) : scaler.lengthen(by: most, likeness: 0.85)
        }
        #expect(r.stretched > Int(0.3 * rate), "\(r.stretched)")
        #expect(sineDefect(r.output, frequency: 441, rate: rate) < -38)
    }

    @Test func `a voice keeps its pitch and has no click`() {
        let plain = play(voice) { _ in 0 }
        for isShorter in [true, false] {
            let r = play(channels: 2, voice) { scaler in
                isShorter ? scaler.shorten(by: 720, likeness: 0.85) : scaler.lengthen(by: 720, likeness: 0.85)
            }
            #expect(r.stretched > 24_000)
            #expect(steepest(r.output[...]) < 1.2 * steepest(plain.output[...]) / 2)
            // 120 Hz: 600 upward crossings in 5 s, as 0.7 Hz of vibrato moves them about.
            let rises = zip(r.output, r.output.dropFirst()).count { $0 < 0 && $1 >= 0 }
            #expect(abs(rises - 600) < 12, "\(rises)")
        }
    }

    @Test func `a limit is never exceeded, and what is not alike is left alone`() {
        let short = play(voice) { scaler in
            let frames = scaler.shorten(by: 500, likeness: 0.85)
            #expect(frames <= 500)
            return frames
        }
        #expect(short.stretched > 0)
        var random = SeededRandom(seed: 4)
        let noise = (0..<400_000).map { _ in Float(random.unit() - 0.5) }
        #expect(play({ noise[$0] }) { $0.shorten(by: 720, likeness: 0.85) }.stretched == 0)
        #expect(play({ noise[$0] }) { $0.lengthen(by: 720, likeness: 0.85) }.stretched == 0)
        #expect(play({ noise[$0] }) { $0.lengthen(by: 720, likeness: -1) }.stretched > 0)
        #expect(play({ _ in 0 }) { $0.shorten(by: 720, likeness: 0.85) }.stretched % 720 == 0)
    }

    @Test func `with too little waiting nothing happens`() {
        var scaler = TimeScaler(sampleRate: 48_000, channelCount: 1, maximumFrameCount: 96)
        scaler.append(scaler.fade + scaler.shortest - 1)
        #expect(scaler.shorten(by: 720, likeness: -1) == 0)
        var empty = TimeScaler(sampleRate: 48_000, channelCount: 1, maximumFrameCount: 96)
        #expect(empty.lengthen(by: 720, likeness: -1) == 0)
        empty.append(empty.fade - 1)
        #expect(empty.lengthen(by: 720, likeness: -1) == 0)
    }
}
