// SPDX-License-Identifier: Apache-2.0

import Dispatch
import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioPlugIns
import Foundation
import Synchronization
import TestSupport
import Testing
import UnitMeasures

/// Measures that the distribution's plug-ins do what their authors say.
@Suite struct PlugInSoundTests {
    @Test(arguments: [Float(-20), -6, 0, 6, 20])
    func `the gain of an amplifier plug-in is exact`(gain: Float) throws {
        let unit = try swh("amp").makeUnit(sampleRate: 48_000, channelCount: 2)
        unit.set(values(unit, ["gain": gain]))
        let sine = UnitDrive.sine(1_000, rate: 48_000, count: 4_800, amplitude: 0.05)
        let heard = UnitDrive.render(unit, [sine, sine])
        for channel in heard { #expect(abs(20 * log10(channel.rms / sine.rms) - Double(gain)) < 0.1) }
    }

    @Test(arguments: [44_100.0, 48_000, 96_000])
    func `a delay plug-in is as long as set`(rate: Double) throws {
        let unit = try swh("lcrDelay").makeUnit(sampleRate: rate, channelCount: 2)
        unit.set(values(unit, ["cdel": 100, "clev": 50, "llev": 0, "rlev": 0, "feedback": 0, "wet": 1]))
        let sound = impulse(Int(rate / 4))
        for channel in UnitDrive.render(unit, [sound, sound]) {
            #expect(abs(channel.peakIndex - Int(rate / 10)) <= 2 && channel[channel.peakIndex] > 0.1)
        }
    }

    @Test(arguments: [44_100.0, 48_000])
    func `a limiter plug-in has the latency it reports and keeps its limit`(rate: Double) throws {
        let unit = try swh("fastLookaheadLimiter").makeUnit(sampleRate: rate, channelCount: 2)
        #expect(unit.latency == Int(rate / 200))
        let quiet = impulse(4_800).map { $0 * 0.25 }
        let late = UnitDrive.render(unit, [quiet, quiet])
        for channel in late { #expect(channel.peakIndex == unit.latency && abs(channel[unit.latency] - 0.25) < 1e-4) }

        unit.set(values(unit, ["limit": -6]))
        let sine = UnitDrive.sine(1_000, rate: rate, count: 48_000)
        let heard = UnitDrive.render(unit, [sine, sine])
        let peak = heard[0].map(\.magnitude).max() ?? 0
        #expect(peak <= 0.5012 && peak > 0.4, "\(peak)")
    }

    /// R. Bristow-Johnson, Audio EQ Cookbook: the peaking section, with its bandwidth in octaves.
    @Test(arguments: [(Float(1_000), Float(12), Float(1)), (200, -9, 2), (8_000, 6, 0.5)])
    func `an equaliser plug-in follows the formula of its response`(frequency: Float, gain: Float, bandwidth: Float)
        throws
    {
        let rate = 48_000.0
        let unit = try swh("singlePara").makeUnit(sampleRate: rate, channelCount: 1)
        unit.set(values(unit, ["fc": frequency, "gain": gain, "bw": bandwidth]))
        let response = Spectrum.magnitudes(UnitDrive.render(unit, [impulse(32_768)])[0].map(Double.init))

        let w0 = 2 * Double.pi * Double(frequency) / rate
        let a = pow(10, Double(gain) / 40)
        let alpha = sin(w0) * sinh(log(2) / 2 * Double(bandwidth) * w0 / sin(w0))
        func magnitude(_ c: (Double, Double, Double), _ w: Double) -> Double {
            hypot(c.0 + c.1 * cos(w) + c.2 * cos(2 * w), c.1 * sin(w) + c.2 * sin(2 * w))
        }
        var worst = 0.0
        for bin in 14..<13_653 {  // 20 Hz to 20 kHz
            let w = 2 * Double.pi * Double(bin) / 32_768
            let wanted =
                magnitude((1 + alpha * a, -2 * cos(w0), 1 - alpha * a), w)
                / magnitude((1 + alpha / a, -2 * cos(w0), 1 - alpha / a), w)
            worst = max(worst, abs(20 * log10(response[bin] / wanted)))
        }
        #expect(worst < 0.1, "\(worst) dB")
    }

    @Test func `a mono plug-in processes each channel separately`() throws {
        for count in [2, 6] {
            let unit = try swh("amp").makeUnit(sampleRate: 48_000, channelCount: count)
            unit.set(values(unit, ["gain": 0]))
            var input = [[Float]](repeating: [Float](repeating: 0, count: 2_000), count: count)
            input[1] = noise(2_000)
            let heard = UnitDrive.render(unit, input)
            for c in 0..<count where c != 1 { #expect(heard[c].allSatisfy { $0 == 0 }) }
            #expect(heard[1] == input[1])
        }
    }

    @Test func `a stereo plug-in in a mono unit gets its input twice and outputs the mean`() throws {
        let mono = try mda("Delay").makeUnit(sampleRate: 48_000, channelCount: 1)
        let stereo = try mda("Delay").makeUnit(sampleRate: 48_000, channelCount: 2)
        let sound = noise(30_000)
        let one = UnitDrive.render(mono, [sound])[0]
        let two = UnitDrive.render(stereo, [sound, sound])
        #expect(two[0] != two[1])
        #expect(one == zip(two[0], two[1]).map { ($0 + $1) * 0.5 })
    }

    @Test func `a mono-to-stereo plug-in gets the mean of two channels, and one channel hears its mean`() throws {
        let plate = try swh("plate")
        #expect(plate.audioInputCount == 1 && plate.audioOutputCount == 2)
        let (left, right) = (noise(20_000), noise(20_000, seed: 7))
        let stereo = UnitDrive.render(try plate.makeUnit(sampleRate: 48_000, channelCount: 2), [left, right])
        let mean = zip(left, right).map { ($0 + $1) * 0.5 }
        let same = UnitDrive.render(try plate.makeUnit(sampleRate: 48_000, channelCount: 2), [mean, mean])
        #expect(stereo[0] != stereo[1] && stereo == same)
        let mono = UnitDrive.render(try plate.makeUnit(sampleRate: 48_000, channelCount: 1), [mean])
        #expect(mono[0] == zip(same[0], same[1]).map { ($0 + $1) * 0.5 })
    }

    @Test func `a generator plug-in has no input`() throws {
        let plugIn = try swh("sinCos")
        #expect(plugIn.description.component.type == .generator)
        let unit = try plugIn.makeUnit(sampleRate: 48_000, channelCount: 2)
        #expect(unit.inputChannelCount == 0)
        let heard = generate(unit, 4_800)
        #expect(heard[0].rms > 0.1 && heard[0] != heard[1])
    }

    @Test(arguments: ["amp", "delay_n", "plate", "sc4", "fastLookaheadLimiter", "singlePara"])
    func `a plug-in sounds the same after it is destroyed and recreated`(name: String) throws {
        let sound = noise(20_000)
        func render() throws -> [[Float]] {
            UnitDrive.render(try swh(name).makeUnit(sampleRate: 48_000, channelCount: 2), [sound, sound])
        }
        let first = try render()
        for _ in 0..<3 { #expect(try render() == first) }
    }

    @Test(arguments: ["delay_n", "plate", "sc4", "fastLookaheadLimiter", "singlePara"])
    func `a reset plug-in sounds like a new one`(name: String) throws {
        let sound = noise(10_000)
        let unit = try swh(name).makeUnit(sampleRate: 48_000, channelCount: 2)
        let first = UnitDrive.render(unit, [sound, sound])
        for _ in 0..<3 {
            unit.reset()
            #expect(UnitDrive.render(unit, [sound, sound]) == first)
            // The next reset needs the instances that this one's thread creates meanwhile.
            #expect(eventually { isRenewed(unit) })
        }
    }

    /// The catalogue, the world and the rebuilder are shared; each thread has its own sound.
    @Test func `units are created, reset and destroyed on four threads concurrently`() throws {
        let sound = noise(1_000)
        let plate = try swh("plate")
        let wanted = UnitDrive.render(try plate.makeUnit(sampleRate: 48_000, channelCount: 2), [sound, sound])
        let wrong = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for pass in 0..<25 {
                guard let unit = try? swh("plate").makeUnit(sampleRate: 48_000, channelCount: 2) else {
                    wrong.add(1, ordering: .relaxed)
                    continue
                }
                for _ in 0..<2 {
                    if UnitDrive.render(unit, [sound, sound]) != wanted { wrong.add(1, ordering: .relaxed) }
                    unit.reset()
                    if pass % 3 == 0, !eventually({ isRenewed(unit) }) { wrong.add(1, ordering: .relaxed) }
                    if pass % 3 != 0 { break }
                }
            }
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
    }

    @Test func `input and output may share memory`() throws {
        let sound = noise(5_000)
        let apart = UnitDrive.render(try mda("Delay").makeUnit(sampleRate: 48_000, channelCount: 2), [sound, sound])
        for blocks in [PlugInBlocks.asCalled, .fixed(64)] {
            let unit = try mda("Delay").makeUnit(sampleRate: 48_000, channelCount: 2, blocks: blocks)
            let memory = AudioBuffer(channelCount: 2, frameCapacity: 5_000)
            for c in 0..<2 { for i in 0..<5_000 { memory.channels[c][i] = sound[i] } }
            unit.process(memory.channels, memory.channels, frameCount: 5_000)
            for c in 0..<2 {
                let heard = (unit.latency..<5_000).map { memory.channels[c][$0] }
                #expect(heard == Array(apart[c][..<(5_000 - unit.latency)]))
            }
        }
    }
}
