// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import TestSupport
import Testing

@testable import EarshotAudioEngine

@Suite struct AudioMixerNodeTests {
    private func rig(_ sources: [AudioSourceNode], channels: Int = 2) throws -> EngineRig {
        let rig = EngineRig(channels: channels)
        for (bus, source) in sources.enumerated() {
            try rig.engine.attach(source)
            try rig.engine.connect(source, to: rig.engine.mainMixerNode, bus: bus)
        }
        try rig.start()
        return rig
    }

    private func peak(_ samples: [Float]) -> Float { samples.suffix(4_800).map(abs).max() ?? 0 }

    @Test(arguments: [(-1.0, 1.0, 0.0), (-0.5, 1, 0.5), (0, 1, 1), (0.25, 0.75, 1), (1, 0, 1)])
    func `pan attenuates the opposite channel`(pan: Double, left: Double, right: Double) throws {
        for channels in 1...2 {
            let rig = try rig([sineSource(500, channels: channels)])
            rig.engine.mainMixerNode.input(0).pan = Float(pan)
            rig.engine.mainMixerNode.input(0).volume = 0.5
            let output = try rig.render(9_600)
            #expect(abs(Double(peak(output[0])) - 0.25 * left) < 1e-4)
            #expect(abs(Double(peak(output[1])) - 0.25 * right) < 1e-4)
        }
    }

    @Test func `volume, mute and solo take effect and leave other inputs unchanged`() throws {
        let rig = try rig(
            (0..<3).map { sineSource(100 * Double($0 + 1), amplitude: 0.1 * Double($0 + 1)) }, channels: 1)
        let mixer = rig.engine.mainMixerNode
        func expect(_ gains: [Double], _ comment: Comment) throws {
            _ = try rig.render(2_400)
            let start = Int(rig.engine.sampleTime) + 96  // the last block of 2,400 in blocks of 256 has 96 frames
            let output = try rig.render(4_800)[0]
            let expected = (0..<4_800).map { n in
                (0..<3).reduce(Float(0)) { sum, k in
                    sum
                        + sine(
                            start + n, frequency: 100 * Double(k + 1), rate: 48_000,
                            amplitude: 0.1 * Double(k + 1) * gains[k])
                }
            }
            if gains.allSatisfy({ $0 == 0 }) {
                #expect(output.allSatisfy { $0 == 0 }, comment)
            } else {
                #expect(errorDecibels(expected, output) < -100, comment)
            }
        }
        try expect([1, 1, 1], "as it is")
        mixer.input(1).volume = 2
        try expect([1, 2, 1], "volume")
        mixer.input(0).isMuted = true
        try expect([0, 2, 1], "one muted")
        mixer.input(2).isSoloed = true
        try expect([0, 0, 1], "one soloed")
        mixer.input(0).isSoloed = true
        try expect([0, 0, 1], "muted stays muted when soloed")
        mixer.input(0).isMuted = false
        try expect([1, 0, 1], "two soloed")
        mixer.input(0).isSoloed = false
        mixer.input(2).isSoloed = false
        try expect([1, 2, 1], "none soloed")
        mixer.outputVolume = 0.25
        try expect([0.25, 0.5, 0.25], "output volume")
        mixer.outputVolume = 0
        try expect([0, 0, 0], "closed")
    }

    @Test func `an input connected while another is soloed is silent`() throws {
        let rig = try rig([sineSource(100, amplitude: 0.1)], channels: 1)
        rig.engine.mainMixerNode.input(0).isSoloed = true
        let late = sineSource(300, amplitude: 0.5)
        try rig.engine.attach(late)
        try rig.engine.connect(late, to: rig.engine.mainMixerNode)
        #expect(abs(peak(try rig.render(9_600)[0]) - 0.1) < 1e-4)
        rig.engine.mainMixerNode.input(0).isSoloed = false
        #expect(peak(try rig.render(9_600)[0]) > 0.5)
    }

    @Test(arguments: [[256], [64], [4_096, 1]])
    func `meters show peak, level and loudness`(blocks: [Int]) throws {
        // BS.1770: a sine of 997 Hz in both channels at −20 dBFS peak has −20 LUFS.
        let rig = try rig([sineSource(997, channels: 2, amplitude: 0.1)])
        let mixer = rig.engine.mainMixerNode
        mixer.isMeteringEnabled = true
        _ = try rig.render(5 * 48_000, blocks: blocks)
        #expect(abs(decibels(Double(mixer.meter.peak)) + 20) < 0.02)
        #expect(abs(10 * decibels(Double(mixer.meter.meanSquare)) / 20 + 23.01) < 0.05)
        #expect(abs(mixer.meter.momentary + 20) < 0.1)
        #expect(abs(mixer.meter.shortTerm + 20) < 0.1)
        #expect(abs(mixer.loudness.integrated + 20) < 0.1)
        #expect(abs(mixer.loudness.duration - 5) < 0.11)
        #expect(abs(decibels(Double(mixer.input(0).level.peak)) + 20) < 0.02)
        // Half as loud from now on, measured again; then silence, which ends.
        mixer.outputVolume = 0.5
        _ = try rig.render(9_600, blocks: blocks)
        mixer.resetLoudness()
        _ = try rig.render(4 * 48_000, blocks: blocks)
        #expect(abs(mixer.loudness.integrated + 26.02) < 0.1)
        #expect(abs(decibels(Double(mixer.input(0).level.peak)) + 20) < 0.02)
        mixer.input(0).isMuted = true
        _ = try rig.render(6 * 48_000, blocks: blocks)
        #expect(mixer.meter.peak == 0 && mixer.meter.meanSquare == 0)
        #expect(mixer.meter.momentary == -.infinity && mixer.meter.shortTerm < -100)
        #expect(abs(mixer.loudness.integrated + 26.02) < 0.2)
    }

    @Test func `loudness is measured only while metering is enabled`() throws {
        let rig = try rig([sineSource(997, channels: 2, amplitude: 0.1)])
        let mixer = rig.engine.mainMixerNode
        func expectSilence() {
            #expect(mixer.meter.peak == 0 && mixer.meter.meanSquare == 0 && mixer.meter.momentary == -.infinity)
        }
        #expect(!mixer.isMeteringEnabled)
        _ = try rig.render(48_000)
        expectSilence()
        #expect(mixer.loudness.duration == 0 && mixer.loudness.integrated == -.infinity)
        #expect(abs(decibels(Double(mixer.level.peak)) + 20) < 0.02)
        for seconds in [1.0, 2.0] {
            mixer.isMeteringEnabled = true
            _ = try rig.render(48_000)
            #expect(abs(mixer.meter.momentary + 20) < 0.1)
            #expect(abs(mixer.loudness.duration - seconds) < 0.11)
            #expect(abs(mixer.loudness.integrated + 20) < 0.1)
            mixer.isMeteringEnabled = false
            mixer.isMeteringEnabled = false  // again does nothing
            _ = try rig.render(48_000)
            expectSilence()
            #expect(abs(mixer.loudness.duration - seconds) < 0.11)
        }
    }

    /// 24 of the blocks of 400 ms that begin every 100 ms (BS.1770) are full, and six contain a quarter to three quarters of the
    /// sound.
    @Test func `sound that pauses and returns is metered as if the silence had been measured`() throws {
        let source = AudioSourceNode { time, count, output in
            for c in 0..<output.count {
                for i in 0..<count {
                    let n = Int(time) + i
                    output[c][i] = n < 96_000 || n > 480_000 ? sine(n, frequency: 997, rate: 48_000, amplitude: 0.1) : 0
                }
            }
            return count
        }
        let rig = try rig([source])
        rig.engine.mainMixerNode.isMeteringEnabled = true
        _ = try rig.render(480_000)
        #expect(rig.engine.mainMixerNode.meter.momentary == -.infinity)
        _ = try rig.render(48_000)
        #expect(abs(rig.engine.mainMixerNode.meter.momentary + 20) < 0.1)
        #expect(abs(rig.engine.mainMixerNode.loudness.integrated + 20.46) < 0.1)
    }
}
