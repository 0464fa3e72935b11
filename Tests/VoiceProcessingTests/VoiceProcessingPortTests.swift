// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import TestTraits
import Testing

@testable import EarshotVoiceProcessing

/// Blocks of two channels through a port, on virtual time.
@Suite struct VoiceProcessingPortTests {
    private let rate = 16_000.0
    private let block = AudioBuffer(channelCount: 2, frameCapacity: 160)
    private let played = AudioBuffer(channelCount: 2, frameCapacity: 160)

    private func worker(isOn: Bool) throws -> VoiceProcessingWorker {
        try VoiceProcessingWorker(
            sampleRate: rate, maximumFrameCount: 160, options: VoiceProcessingWorkerTests.gentle, isOn: isOn)
    }

    /// Renders one block at a time. The second channel is the inverted first, so that their mean is silence.
    private func render(_ worker: VoiceProcessingWorker, from start: Int, count: Int, isOpposed: Bool) -> [[Float]] {
        var channels: [[Float]] = [[], []]
        for number in 0..<count {
            for i in 0..<160 {
                let sample = sine(start + number * 160 + i, frequency: 200, rate: rate, amplitude: 0.3)
                block.channels[0][i] = sample
                block.channels[1][i] = isOpposed ? -sample : sample
                played.channels[0][i] = 0
                played.channels[1][i] = 0
            }
            worker.port.process(block.channels, reference: played.channels, frameCount: 160)
            worker.runPending()
            for c in 0..<2 { channels[c] += UnsafeBufferPointer(start: block.channels[c], count: 160) }
        }
        return channels
    }

    @Test func `processing that is off changes no bit, needs no reference and gives the worker no work`() throws {
        let worker = try worker(isOn: false)
        let heard = render(worker, from: 0, count: 50, isOpposed: true)
        let isPlain = heard[0] == (0..<8_000).map { sine($0, frequency: 200, rate: rate, amplitude: 0.3) }
        #expect(isPlain && zip(heard[0], heard[1]).allSatisfy { $0 == -$1 })
        let needsReference = worker.port.needsReference()
        #expect(!needsReference && worker.counts.wanted == 0)
    }

    @Test func `processing fades in after its latency on all channels, and once off is bypassed`()
        throws
    {
        let worker = try worker(isOn: false)
        worker.isOn = true
        let needsReference = worker.port.needsReference()
        #expect(needsReference)
        // The mean of the channels is silence, which distinguishes processed from plain sound.
        let on = render(worker, from: 0, count: 50, isOpposed: true)
        let fade = Int(0.02 * rate)
        let before = worker.latency / 160 * 160
        let isPlain = (0..<before).allSatisfy { on[0][$0] == sine($0, frequency: 200, rate: rate, amplitude: 0.3) }
        #expect(isPlain)
        let isCleaned = (before + 160 + fade..<8_000).allSatisfy { abs(on[0][$0]) < 0.01 && on[0][$0] == on[1][$0] }
        #expect(isCleaned)
        worker.isOn = false
        let off = render(worker, from: 8_000, count: 50, isOpposed: true)
        let all = on[0] + off[0]
        let steepest = 0.3 * 2 * Float.pi * 200 / Float(rate)
        #expect(zip(all, all.dropFirst()).allSatisfy { abs($0 - $1) < 1.2 * steepest }, "it clicks")
        let isPlainAgain = (fade..<8_000).allSatisfy { off[0][$0] == -off[1][$0] }
        let needsReferenceStill = worker.port.needsReference()
        #expect(isPlainAgain && !needsReferenceStill)
        // When turned on again it waits again: the worker holds older sound.
        let wanted = worker.counts.wanted
        worker.isOn = true
        let again = render(worker, from: 16_000, count: 4, isOpposed: true)
        #expect(again[0][0] == sine(16_000, frequency: 200, rate: rate, amplitude: 0.3))
        #expect(worker.counts.wanted == wanted + 4 * 160)
    }

    @Test func `processing on from the start gives silence for its latency, then processed sound`() throws {
        let worker = try worker(isOn: true)
        let heard = render(worker, from: 0, count: 100, isOpposed: false)
        let beginsSilent = heard[0][..<(worker.latency / 2)].allSatisfy { $0 == 0 }
        let areAlike = heard[0] == heard[1]
        #expect(beginsSilent && areAlike)
        let peak = heard[0][8_000...].reduce(0) { max($0, abs($1)) }
        #expect((0.2...0.4).contains(peak))
    }

    /// The processed sound of a tone in blocks of different lengths.
    private func sound(
        _ worker: VoiceProcessingWorker, from start: Int, blocks: [Int], _ sample: (Int) -> Float
    ) -> [Float] {
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 4_096)
        let silence = AudioBuffer(channelCount: 1, frameCapacity: 4_096)
        var (sound, time): ([Float], Int) = ([], start)
        for count in blocks {
            for i in 0..<count { buffer.channels[0][i] = sample(time + i) }
            worker.port.process(buffer.channels, reference: silence.channels, frameCount: count)
            worker.runPending()
            sound += UnsafeBufferPointer(start: buffer.channels[0], count: count)
            time += count
        }
        return sound
    }

    @Test(arguments: [161, 441, 1_024, 4_096])
    func `longer blocks lengthen the delay once, without a click and without late frames`(length: Int) throws {
        let worker = try worker(isOn: true)
        let first = worker.latency
        let talk = try Speech.talk(rate: Int(rate))
        func sample(_ time: Int) -> Float { time < talk.count ? talk[time] : 0 }
        let count = 24_000 / length + 1
        let heard = sound(
            worker, from: 0, blocks: Array(repeating: 160, count: 100) + Array(repeating: length, count: count), sample)
        #expect(worker.counts.late == 0 && worker.counts.rejected == 0 && worker.error == nil)
        #expect((length - 160...length - 160 + 31).contains(worker.latency - first))
        let rest = 16_000 + worker.latency + VoiceProcessingPort.fadeLength
        let found = lag(of: Array(heard[(rest - 40)...]), behind: Array(talk[(rest - worker.latency)...]), upTo: 80)
        #expect(abs(found.lag - 40) <= 2 && found.correlation > 0.9, "\(found)")
    }

    @Test func `a changed delay does not click`() throws {
        let worker = try worker(isOn: true)
        func sample(_ time: Int) -> Float { sine(time, frequency: 200, rate: rate, amplitude: 0.3) }
        let blocks = Array(repeating: 160, count: 101) + [512, 512, 700, 64, 64] + Array(repeating: 160, count: 40)
        let heard = sound(worker, from: 0, blocks: blocks, sample)
        let steepest = 0.3 * 2 * Float.pi * 200 / Float(rate)
        let clicks = zip(heard, heard.dropFirst()).enumerated().filter { abs($1.0 - $1.1) > 1.3 * steepest }
        #expect(clicks.allSatisfy { $0.offset < 1_000 }, "the sound begins without a fade")
        #expect(worker.counts.late == 0)
    }

    /// The voice before voice processing must not be heard while the longer delay passes.
    @Test func `no plain sound is heard while the delay grows`() throws {
        let worker = try worker(isOn: true)
        let blocks = Array(repeating: 160, count: 100) + Array(repeating: 1_024, count: 4)
        let heard = sound(worker, from: 0, blocks: blocks) { $0 < 16_000 ? 0 : 0.3 }
        #expect(heard[16_000..<16_000 + worker.latency].allSatisfy { abs($0) < 0.001 })
    }

    @Test func `after a route change the delay fits the new device, and the earlier sound is not heard`() throws {
        let worker = try worker(isOn: true)
        let first = worker.latency
        let before = sound(worker, from: 0, blocks: Array(repeating: 1_024, count: 20)) { _ in 0.2 }
        #expect(before.contains { $0 > 0.1 } && worker.latency >= first + 864)
        worker.port.noteRouteChange()
        let after = sound(worker, from: 0, blocks: Array(repeating: 64, count: 300)) {
            sine($0, frequency: 200, rate: rate, amplitude: 0.3)
        }
        #expect(worker.latency < first && worker.counts.late == 0)
        #expect(after[..<worker.latency].allSatisfy { $0 == 0 })
        #expect(after[(worker.latency + 3_200)...].contains { abs($0) > 0.2 })
    }
}
