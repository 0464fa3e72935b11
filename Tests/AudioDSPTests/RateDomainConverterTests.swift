// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import TestSupport
import TestTraits
import Testing

@Suite(.optimized) struct JointConverterTests {
    static let rates = [8_000.0, 11_025, 16_000, 22_050, 32_000, 44_100, 47_999.5, 48_000, 96_000, 192_000]
    static var pairs: [(Double, Double)] { rates.flatMap { a in rates.map { (a, $0) } } }

    /// Slices of random length on a common clock. Each side's total may be one frame off its sample rate.
    @Test(arguments: pairs)
    func `random slices never starve the converter, and the delay is the one reported`(rates: (Double, Double)) throws {
        let (from, to) = rates
        var random = SeededRandom(seed: UInt64(from + to))
        var joint = RateDomainConverter(
            from: from, to: to, inputChannelCount: 1, outputChannelCount: 1, maximumFrameCount: 4096)
        let input = AudioBuffer(channelCount: 1, frameCapacity: 4096)
        let output = AudioBuffer(channelCount: 1, frameCapacity: 4096)
        let frequency = 0.1 * min(from, to)
        var (written, read, time) = (0, 0, 0.0)
        var heard: [Float] = []
        for slice in 0..<160 {
            let longest = slice % 40 < 30 ? 200 : 4000
            time += Double(Int.random(in: 1...longest, using: &random)) / max(from, to)
            // Equal sample rates need no tolerance.
            let wobble = from == to ? 0...0 : -1...1
            let wanted = max(written, Int(time * from) + Int.random(in: wobble, using: &random))
            let count = wanted - written
            for i in 0..<count { input.channels[0][i] = sine(written + i, frequency: frequency, rate: from) }
            joint.write(input.channels, frameCount: count)
            written += count
            let due = max(read, Int(time * to) + Int.random(in: wobble, using: &random))
            joint.read(output.channels, frameCount: due - read)
            heard.append(contentsOf: UnsafeBufferPointer(start: output.channels[0], count: due - read))
            read = due
        }
        #expect(joint.starvedFrameCount == 0 && joint.droppedFrameCount == 0)
        #expect(joint.latency == joint.latency.rounded())
        let delay = Int(joint.latency)
        let settled = from == to ? 0 : 2 * delay + 4
        let expected = heard.indices.map { sine($0 - delay, frequency: frequency, rate: to) }
        // The shortest run, 192 kHz to 8 kHz, has 3,800 frames; the longest filter is 130 frames at its output's sample rate.
        try #require(heard.count > settled + 100)
        #expect(errorDecibels(Array(expected[settled...]), Array(heard[settled...])) < -100)
    }

    @Test func `conversion latency is half the filter length`() {
        func latency(_ from: Double, _ to: Double) -> Double {
            RateDomainConverter(from: from, to: to, inputChannelCount: 1, outputChannelCount: 1).latency
        }
        #expect(latency(48_000, 48_000) == 0)
        #expect(latency(44_100, 48_000) == 92)
        #expect(latency(48_000, 44_100) == 85)
        #expect(latency(48_000, 8_000) == 82)
        #expect(latency(8_000, 48_000) == 499)
    }

    @Test(arguments: [(48_000.0, 48_000.0), (44_100, 48_000), (48_000, 44_100)])
    func `channels are mapped correctly between different channel counts`(from: Double, to: Double) {
        for (inputs, outputs) in [(1, 2), (1, 5), (2, 1), (5, 1), (2, 2), (2, 6), (6, 2), (3, 4)] {
            var joint = RateDomainConverter(
                from: from, to: to, inputChannelCount: inputs, outputChannelCount: outputs, maximumFrameCount: 512)
            let input = AudioBuffer(channelCount: inputs, frameCapacity: 600)
            let output = AudioBuffer(channelCount: outputs, frameCapacity: 600)
            for c in 0..<inputs { for i in 0..<600 { input.channels[c][i] = Float(c + 1) } }
            for c in 0..<outputs { for i in 0..<600 { output.channels[c][i] = 77 } }
            for _ in 0..<2 {
                joint.write(input.channels, offset: 7, frameCount: Int(500 * from / 48_000))
                joint.read(output.channels, offset: 3, frameCount: Int(500 * to / 48_000) - 2)
            }
            for c in 0..<outputs {
                let level: Float =
                    outputs == 1 ? Float(inputs + 1) / 2 : inputs == 1 ? 1 : c < inputs ? Float(c + 1) : 0
                #expect(abs(output.channels[c][300] - level) < 1e-5)
                #expect(output.channels[c][2] == 77 && output.channels[c][599] == 77)
            }
        }
    }

    @Test func `missing input gives silence, excess input is dropped, and both are counted`() {
        var joint = RateDomainConverter(
            from: 48_000, to: 44_100, inputChannelCount: 1, outputChannelCount: 2, maximumFrameCount: 128)
        let block = AudioBuffer(channelCount: 2, frameCapacity: 8192)
        joint.read(block.channels, frameCount: 8192)
        #expect((0..<8192).allSatisfy { block.channels[0][$0] == 0 && block.channels[1][$0] == 0 })
        #expect(joint.starvedFrameCount > 8700)
        let ones = AudioBuffer([[Float](repeating: 1, count: 8192)])
        let room = joint.room
        #expect(room >= 4 * 128)
        joint.write(ones.channels, frameCount: 8192)
        #expect(joint.droppedFrameCount == 8192 - room && joint.room == 0)
        joint.read(block.channels, frameCount: 128)
        #expect(abs(block.channels[0][127] - 1) < 0.1)
        #expect(joint.room > 0)
    }

    @Test func `a reset restores the initial state`() {
        let input = AudioBuffer([(0..<512).map { sine($0, frequency: 1000, rate: 48_000) }])
        let output = AudioBuffer(channelCount: 1, frameCapacity: 400)
        var joint = RateDomainConverter(from: 48_000, to: 44_100, inputChannelCount: 1, outputChannelCount: 1)
        func pass() -> [Float] {
            joint.write(input.channels, frameCount: 512)
            joint.read(output.channels, frameCount: 400)
            return Array(UnsafeBufferPointer(start: output.channels[0], count: 400))
        }
        let first = pass()
        #expect(pass() != first)
        joint.reset()
        #expect(pass() == first)
    }
}

extension AudioBuffer {
    fileprivate convenience init(_ signals: [[Float]]) {
        self.init(channelCount: signals.count, frameCapacity: signals[0].count)
        for (c, signal) in signals.enumerated() { for (i, x) in signal.enumerated() { channels[c][i] = x } }
    }
}
