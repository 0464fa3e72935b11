// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport
import EarshotPlayout
import Testing

@testable import EarshotCall

/// Tests the small parts of a call separately.
@Suite struct CallPartsTests {
    private func at(_ seconds: Double) -> HostTime { HostTime(nanoseconds: Int64(seconds * 1e9)) }

    /// A buffer with a constant value in each channel.
    private func buffer(_ values: [Float], frames: Int) -> AudioBuffer {
        let buffer = AudioBuffer(channelCount: values.count, frameCapacity: frames)
        for (c, value) in values.enumerated() { for i in 0..<frames { buffer.channels[c][i] = value } }
        return buffer
    }

    private func samples(_ buffer: AudioBuffer, _ channel: Int, _ frames: Int) -> [Float] {
        Array(UnsafeBufferPointer(start: buffer.channels[channel], count: frames))
    }

    @Test func `a mix up to full scale is not changed`() {
        var peakGuard = PeakLimiter(sampleRate: 48_000)
        let mix = buffer([1, -1], frames: 64)
        peakGuard.process(mix.channels, 64)
        #expect(samples(mix, 0, 64) == Array(repeating: 1, count: 64))
        #expect(samples(mix, 1, 64) == Array(repeating: -1, count: 64))
    }

    @Test func `a mix above full scale is attenuated within 32 frames and recovers in half a second`() {
        var peakGuard = PeakLimiter(sampleRate: 48_000)
        let loud = buffer([2, -0.5, -2], frames: 64)
        peakGuard.process(loud.channels, 64)
        #expect(samples(loud, 0, 64) == Array(repeating: 1, count: 64))
        #expect(samples(loud, 2, 64) == Array(repeating: -1, count: 64))
        // The quiet channel keeps its relation to the loud ones.
        let quiet = samples(loud, 1, 64)
        #expect(quiet[31...] == Array(repeating: -0.25, count: 33)[...])
        #expect(abs(quiet[0] + 0.5 * (1 - 1 / 64)) < 1e-6 && quiet[15] == -0.375)
        var last: [Float] = []
        for _ in 0..<50 {
            let block = buffer([0.5], frames: 480)
            peakGuard.process(block.channels, 480)
            last.append(block.channels[0][479])
        }
        for (n, sample) in last.prefix(24).enumerated() {
            #expect(abs(sample - 0.5 * (0.5 + 0.02 * Float(n + 1))) < 1e-5)
        }
        #expect(last.suffix(24) == Array(repeating: 0.5, count: 24)[...])
    }

    @Test func `a short block is attenuated over its whole length`() {
        var peakGuard = PeakLimiter(sampleRate: 48_000)
        let block = buffer([2, 0.5], frames: 16)
        peakGuard.process(block.channels, 16)
        #expect(block.channels[0][15] == 1 && block.channels[1][15] == 0.25 && block.channels[1][7] == 0.375)
    }

    @Test func `a voice fades within 5 ms, and is unchanged before and after the fade`() {
        var fader = VoiceFader(sampleRate: 48_000, isHeard: true)
        let block = buffer([0.5, 1], frames: 480)
        fader.process(block.channels, 480, isHeard: true)
        #expect(samples(block, 0, 480) == Array(repeating: 0.5, count: 480))
        fader.process(block.channels, 480, isHeard: false)
        #expect(abs(block.channels[0][119] - 0.25) < 1e-4 && abs(block.channels[1][119] - 0.5) < 1e-4)
        #expect(block.channels[0][238] > 0 && block.channels[1][241] == 0)
        let next = buffer([0.5, 1], frames: 480)
        fader.process(next.channels, 480, isHeard: false)
        #expect(samples(next, 1, 480) == Array(repeating: 0, count: 480))
        let again = buffer([0.5, 1], frames: 480)
        fader.process(again.channels, 480, isHeard: true)
        #expect(abs(again.channels[0][119] - 0.25) < 1e-4 && again.channels[1][241] == 1)
    }

    @Test func `a new voice is faded in over 25 ms from 0.5 ms after its first non-zero sample`() {
        var fader = VoiceFader(sampleRate: 48_000, isHeard: false)
        let silent = buffer([0, 0], frames: 480)
        fader.begin(silent.channels, 480)
        let block = buffer([0.5, 1], frames: 1_440)
        for i in 0..<200 { block.channels[0][i] = 0 }
        for i in 0..<100 { block.channels[1][i] = 0 }
        fader.begin(block.channels, 1_440)
        // The gain is the square of the share of 1,200 frames.
        let first = block.channels[1][124] * 1_200 * 1_200
        #expect(block.channels[1][123] == 0 && abs(first - 1) < 1e-3)
        #expect(abs(block.channels[1][723] - 0.25) < 1e-3 && abs(block.channels[0][723] - 0.125) < 1e-3)
        #expect(block.channels[1][1_325] == 1 && fader.isAudible)
    }

    @Test func `speaking begins with the fifth loud window and ends with the fortieth quiet one`() {
        var detector = SpeechDetector(sampleRate: 48_000)
        func windows(_ count: Int, isLoud: Bool) -> Bool {
            for _ in 0..<count { detector.update(meanSquare: isLoud ? 0.01 : 1e-7, frameCount: 480) }
            return detector.isSpeaking
        }
        #expect(!windows(100, isLoud: false))
        #expect(!windows(4, isLoud: true) && !windows(1, isLoud: false))
        #expect(!windows(1, isLoud: true) && windows(1, isLoud: true))
        #expect(windows(39, isLoud: false) && windows(1, isLoud: true))
        #expect(windows(39, isLoud: false) && !windows(1, isLoud: false))
        #expect(!windows(4, isLoud: true) && windows(1, isLoud: true))
    }

    /// Stores payloads of this many bytes under the numbers, each with ten times the number as its position.
    private func store(_ numbers: Range<UInt16>, byteCount: Int, in history: inout PayloadHistory) {
        for number in numbers {
            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: byteCount)
            bytes.withUnsafeBytes { history.store($0, number: number, position: Int(number) * 10) }
        }
    }

    @Test func `the history keeps the last 128 payloads of up to 1,280 bytes`() {
        var history = PayloadHistory()
        store(1_000..<1_129, byteCount: 1_280, in: &history)
        var kept: [UInt16] = []
        var areRight = true
        for number in UInt16(990)..<1_140 {
            guard let (bytes, position) = history.payload(number) else { continue }
            kept.append(number)
            areRight = areRight && position == Int(number) * 10 && bytes.count == 1_280
            areRight = areRight && bytes.allSatisfy { $0 == UInt8(truncatingIfNeeded: number) }
        }
        #expect(kept == Array(1_001..<1_129) && areRight)
        // A longer payload is not kept, but still replaces the one in its slot.
        store(1_129..<1_130, byteCount: 1_281, in: &history)
        let (old, long) = (history.payload(1_001) == nil, history.payload(1_129) == nil)
        #expect(old && long)
        history.removeAll()
        let isEmpty = (UInt16(1_000)..<1_140).allSatisfy { history.payload($0) == nil }
        #expect(isEmpty)
    }

    @Test func `a known payload is retransmitted at most twice, with a pause in between`() {
        var history = PayloadHistory()
        store(5..<7, byteCount: 10, in: &history)
        var answers: [Bool] = []
        for second in [1, 1.05, 1.1, 1.3] { answers.append(history.answer(5, at: at(second), pause: 0.1)) }
        #expect(answers == [true, false, true, false])
        let (other, unknown, wrapped) = (
            history.answer(6, at: at(1.3), pause: 0.1), history.answer(7, at: at(1.3), pause: 0.1),
            history.answer(5 + 128, at: at(1.3), pause: 0.1)
        )
        #expect(other && !unknown && !wrapped)
    }

    @Test func `a late or recovered packet keeps its own position, by which its neighbours are found`() {
        for isLate in [true, false] {
            // The missing packets are shorter than the one before them.
            var log = ReceiveHistory(clockRate: 48_000)
            _ = log.arrive(0, position: 0, frameCount: 480, at: at(0))
            _ = log.arrive(4, position: 840, frameCount: 480, at: at(0.02))
            if isLate {
                #expect(log.arrive(2, position: 600, frameCount: 120, at: at(0.021)) == .new)
            } else {
                _ = log.recover(2, position: 600, frameCount: 120)
            }
            #expect(log.missing(at: 720, frameCount: 120) == 3 && log.missing(at: 480, frameCount: 120) == 1)
            #expect(log.isMissing(1) && !log.isMissing(2) && log.isMissing(3))
            let wasRequested = log.recover(2, position: 600, frameCount: 120)
            #expect(!wasRequested)
        }
    }

    @Test func `counts of an earlier playout are added, with frames converted to the new rate`() {
        var earlier = PlayoutStatistics()
        (earlier.packets, earlier.latePackets, earlier.missingPackets) = (1, 2, 3)
        (earlier.recoveredPackets, earlier.requestedPackets, earlier.codecRecoveredPackets) = (4, 5, 6)
        (earlier.glitches, earlier.skips, earlier.restarts) = (7, 8, 9)
        (earlier.concealedFrames, earlier.stretchedFrames) = (100, 201)
        (earlier.droppedFrames, earlier.insertedFrames) = (300, 400)
        var sum = earlier
        sum.add(earlier, rateRatio: 1)
        #expect([sum.packets, sum.latePackets, sum.missingPackets] == [2, 4, 6])
        #expect([sum.recoveredPackets, sum.requestedPackets, sum.codecRecoveredPackets] == [8, 10, 12])
        #expect([sum.glitches, sum.skips, sum.restarts] == [14, 16, 18])
        #expect(sum.concealedFrames == 200 && sum.stretchedFrames == 402)
        #expect(sum.droppedFrames == 600 && sum.insertedFrames == 800)
        var half = PlayoutStatistics()
        half.add(earlier, rateRatio: 0.5)
        #expect(half.packets == 1 && half.concealedFrames == 50 && half.stretchedFrames == 101)
        #expect(half.droppedFrames == 150 && half.insertedFrames == 200)
    }

    @Test func `framing and each codec add the documented delay`() {
        func delay(_ codec: Codec, frames: Int, rate: Double = 48_000) -> Double {
            let configuration = CallConfiguration(
                codec: codec, streamRate: rate, channelCount: 1, framesPerPacket: 1, bitRate: 64_000, payloadType: 97,
                deviceRate: rate, deviceBlock: 128)
            return (configuration.codecDelay(framesPerPacket: frames) * 1e6).rounded()
        }
        #expect(delay(.pcm, frames: 96) == 2_000 && delay(.opusCustom, frames: 128) == 4_000)
        #expect(delay(.opus, frames: 240) == 7_500 && delay(.opus, frames: 480) == 16_500)
        #expect(delay(.opus, frames: 120) == 5_000 && delay(.opus, frames: 960) == 26_500)
        #expect(delay(.aac, frames: 1_024) == 64_000)
    }

    @Test func `all redundancy plans are listed once, cheapest first, with their count and reach`() {
        let all = RedundancyPlan.all
        let longest = RedundancyPlan.longest
        #expect(all.count == 1 + longest + longest * (longest + 1) / 2 && Set(all).count == all.count)
        #expect(all.map(\.count) == all.map(\.count).sorted() && all.first == RedundancyPlan.none)
        #expect(all.allSatisfy { $0.reach <= longest && ($0.far == 0 || $0.near <= $0.far) })
        #expect(RedundancyPlan(2, 0).reach == 2 && RedundancyPlan(1, 3).reach == 3 && RedundancyPlan(1, 3).count == 2)
        for plan in all {
            #expect(plan.residual(loss: 0, burst: 1) == 0 && plan.residual(loss: 1, burst: 1) == 1)
        }
        // Losses are independent, so each copy is lost independently.
        #expect(abs(RedundancyPlan(1, 0).residual(loss: 0.1, burst: 1) - 0.01) < 1e-9)
        #expect(abs(RedundancyPlan(1, 2).residual(loss: 0.1, burst: 1) - 0.001) < 1e-9)
        // A copy in the next packet is lost with the original once in seven times.
        #expect(abs(RedundancyPlan(1, 1).residual(loss: 0.1, burst: 1) - 0.01 * (0.1 + 0.9 * 0.15)) < 1e-9)
    }

    @Test func `a link that carries exactly the bit rate of a rung gets that rung`() {
        let rungs = [888_000.0, 320_000, 160_000]
        for (rung, limit) in rungs.enumerated().dropFirst() {
            var policy = RatePolicy(rungs: rungs)
            policy.apply(limit: limit, sent: 888_000, at: 10)
            #expect(policy.rung == rung && !policy.isTooSlow)
            var suspecting = RatePolicy(rungs: rungs)
            suspecting.suspect(limit: limit, isSevere: true, sent: 888_000, at: 10)
            #expect(suspecting.settled == rung)
        }
        var policy = RatePolicy(rungs: rungs)
        policy.apply(limit: 159_999, sent: 888_000, at: 10)
        #expect(policy.rung == 2 && policy.isTooSlow)
        #expect(policy.room(at: 11) == 159_999)
    }

    @Test func `a new AAC stream does not wait for units of the previous stream`() throws {
        let encoder = try AACEncoder(sampleRate: 48_000, channelCount: 1, bitRate: 64_000)
        var receiver = try AACReceiver(audioSpecificConfig: encoder.audioSpecificConfig, channelCount: 1)
        let queue = PacketQueue(capacity: 8, payloadCapacity: 8_192)
        let unit: [UInt8] = [0xFF, 0xFF]  // decodes to nothing; order is what counts
        for position in [0, 2_048] {
            unit.withUnsafeBytes { receiver.receive($0, position: position, at: at(1), into: queue) }
        }
        #expect(receiver.deadline != nil, "the second unit waits for the one before it")
        unit.withUnsafeBytes { receiver.receive($0, position: 500_000, at: at(1), into: queue) }
        #expect(receiver.deadline == nil)
    }
}
