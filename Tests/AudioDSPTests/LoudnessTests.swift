// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import TestTraits
import Testing
import UnitMeasures

@testable import EarshotAudioDSP

@Suite(.optimized) struct LoudnessTests {
    private func add(_ sound: [[Float]], to meter: LoudnessMeter) {
        let buffer = buffer(sound)
        withExtendedLifetime(buffer) { meter.add(buffer.channels, frameCount: sound[0].count) }
    }

    private func buffer(_ sound: [[Float]]) -> AudioBuffer {
        let buffer = AudioBuffer(channelCount: sound.count, frameCapacity: sound[0].count)
        for c in 0..<sound.count { for i in 0..<sound[c].count { buffer.channels[c][i] = sound[c][i] } }
        return buffer
    }

    @Test(arguments: [8_000.0, 11_025, 48_000, 384_000])
    func `a tone has the same loudness at every sample rate`(rate: Double) {
        // The filters are those of 48 kHz at any sample rate, as BS.1770 requires.
        let tone = UnitDrive.sine(1_000, rate: rate, count: Int(2 * rate), amplitude: Double(decibelsToGain(-23)))
        let meter = LoudnessMeter(sampleRate: rate, channelCount: 2)
        add([tone, tone], to: meter)
        #expect(abs(meter.measurement.integrated + 23) < 0.1, "\(meter.measurement.integrated)")
        #expect(abs(meter.measurement.peak + 23) < 0.1)
    }

    @Test func `each 100 ms give one record, independent of block size`() {
        let sound = buffer([DynamicsTests.sound(50_000, seed: 1), DynamicsTests.sound(50_000, seed: 2)])
        func records(_ lengths: [Int]) -> [LoudnessBlock] {
            var tap = MeterTap(sampleRate: 44_100, channelCount: 2, measuresTruePeak: true)
            var found = [LoudnessBlock]()
            var at = 0
            var k = 0
            while at < 50_000 {
                let end = min(50_000, at + lengths[k % lengths.count])
                k += 1
                while at < end {
                    at += tap.process(sound.channels, offset: at, frameCount: end - at)
                    if let block = tap.finished { found.append(block) }
                }
            }
            return withExtendedLifetime(sound) { found }
        }
        let whole = records([50_000])
        #expect(whole.count == 11)
        for lengths in [[1], [64], [4_096], [7, 4_096, 1]] {
            let cut = records(lengths)
            #expect(cut.map(\.energy) == whole.map(\.energy))
            #expect(cut.map(\.truePeak) == whole.map(\.truePeak))
            #expect(cut.map(\.meanSquare) == whole.map(\.meanSquare))
            #expect(cut.map(\.peak) == whole.map(\.peak))
        }
    }

    @Test func `records from the render thread give the same measurement as the sound itself`() {
        let sound = buffer([DynamicsTests.sound(480_000, seed: 3)])
        let direct = LoudnessMeter(sampleRate: 48_000, channelCount: 1)
        direct.add(sound.channels, frameCount: 480_000)
        let queue = MessageQueue<LoudnessBlock>(capacity: 256)
        var tap = MeterTap(sampleRate: 48_000, channelCount: 1, measuresTruePeak: true)
        for start in stride(from: 0, to: 480_000, by: 480) {
            _ = tap.process(sound.channels, offset: start, frameCount: 480)
            if let block = tap.finished { queue.writer.push(block) }
        }
        withExtendedLifetime(sound) {}
        let fed = LoudnessMeter(sampleRate: 48_000, channelCount: 1)
        while let block = queue.pop() { fed.add(block) }
        #expect(fed.measurement == direct.measurement)
        #expect(abs(Double(tap.reading.momentary) - fed.measurement.momentary) < 1e-4)
        #expect(abs(Double(tap.reading.shortTerm) - fed.measurement.shortTerm) < 1e-4)
    }

    @Test func `a meter shows peak and RMS and falls with the sound`() {
        var tap = MeterTap(sampleRate: 48_000, channelCount: 1)
        let tone = buffer([UnitDrive.sine(997, rate: 48_000, count: 48_000, amplitude: 0.5)])
        let silence = buffer([[Float](repeating: 0, count: 48_000)])
        func run(_ sound: AudioBuffer, _ count: Int) {
            var at = 0
            while at < count { at += tap.process(sound.channels, offset: at, frameCount: count - at) }
            withExtendedLifetime(sound) {}
        }
        run(tone, 64)
        #expect(tap.reading.peak > 0.4, "at once")
        run(tone, 47_936)
        #expect(abs(tap.reading.peak - 0.5) < 0.001)
        #expect(abs(tap.reading.meanSquare - 0.125) < 0.001)
        #expect(abs(tap.reading.momentary + 9.03) < 0.1)
        run(silence, 9_600)
        #expect(tap.reading.peak == 0)
        run(silence, 38_400)
        #expect(tap.reading.meanSquare == 0)
        #expect(tap.reading.momentary < -100)
        tap.reset()
        #expect(tap.reading.shortTerm == -.infinity)
    }

    @Test func `silence and sound below the gate have no loudness`() {
        let meter = LoudnessMeter(sampleRate: 48_000, channelCount: 1)
        #expect(meter.measurement.integrated == -.infinity)
        add([UnitDrive.sine(1_000, rate: 48_000, count: 96_000, amplitude: 1e-4)], to: meter)
        #expect(meter.measurement.integrated == -.infinity)
        #expect(meter.measurement.momentary < -75)
        #expect(meter.measurement.range == 0)
    }

    @Test func `integrated loudness is accurate over a day of sound`() {
        let meter = LoudnessMeter(sampleRate: 48_000, channelCount: 1)
        var block = LoudnessBlock()
        block.energy = 0.01
        for _ in 0..<(24 * 36_000) { meter.add(block) }
        let measurement = meter.measurement
        #expect(abs(measurement.integrated + 20.691) < 0.001)
        #expect(measurement.duration == 86_400)
    }

    @Test(arguments: [-1_000, 1_000])
    func `sound at a thousand times full scale is measured`(value: Float) {
        let meter = LoudnessMeter(sampleRate: 48_000, channelCount: 1)
        let loud = UnitDrive.sine(1_000, rate: 48_000, count: 48_000).map { $0 * value }
        add([loud], to: meter)
        #expect(abs(meter.measurement.integrated - 57) < 0.2)
        #expect(abs(meter.measurement.truePeak - 60) < 0.1)
    }
}
