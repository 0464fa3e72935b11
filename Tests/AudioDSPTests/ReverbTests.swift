// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Glibc
import TestTraits
import Testing
import UnitMeasures

@Suite(.optimized) struct ReverbTests {
    @Test func `every octave decays at the set time`() {
        for figure in reverbDecayFigures() { #expect(figure.isMet, "\(figure)") }
    }

    @Test func `echoes are dense after a tenth of a second`() {
        for figure in reverbDensityFigures() { #expect(figure.isMet, "\(figure)") }
    }

    @Test func `no mode rings`() {
        for figure in reverbModeFigures() { #expect(figure.isMet, "\(figure)") }
    }

    @Test func `every tail ends in zeros`() {
        for figure in reverbEndFigures() { #expect(figure.isMet, "\(figure)") }
    }

    @Test func `no parameter change clicks`() {
        for figure in reverbClickFigures() { #expect(figure.isMet, "\(figure)") }
    }

    @Test(arguments: [8000.0, 44_100, 192_000])
    func `decay is the same at every sample rate`(rate: Double) {
        let responses = RoomResponse.paths(
            .reverb, ["preDelay": 0, "highRatio": 1, "lowRatio": 1, "mix": 100], rate: rate, seconds: 1.4)
        for octave in [250.0, 1000, 2000] {
            #expect(abs(RoomResponse.decay(responses, octave: octave, rate: rate) / 1.5 - 1) < 0.1)
        }
    }

    @Test func `highs and lows decay by their ratios, mids at the set time`() {
        let responses = RoomResponse.paths(
            .reverb,
            [
                "preDelay": 0, "decay": 2, "highRatio": 0.4, "highFrequency": 3000, "lowRatio": 1.8, "mix": 100,
                "size": 20,
            ],
            seconds: 4)
        let decays = [31.5, 63, 800, 12_000].map { RoomResponse.decay(responses, octave: $0, rate: 48_000) }
        #expect((3.1...3.9).contains(decays[0]) && decays[1] < decays[0])
        #expect((1.8...2.2).contains(decays[2]))
        #expect((0.75...1).contains(decays[3]))
    }

    @Test func `the wet sound starts after the pre-delay`() {
        let response = RoomResponse.paths(.reverb, ["preDelay": 0.1, "mix": 100], seconds: 0.2)
        for path in response { #expect(path.firstIndex { $0 != 0 }.map { (4800...4900).contains($0) } ?? false) }
    }

    @Test(arguments: [0.3, 1.5, 6])
    func `the reverberation of noise is as loud as the noise`(decay: Double) {
        for channels in [1, 2] {
            let unit = UnitType.reverb.makeUnit(sampleRate: 48_000, channelCount: channels)
            unit.set(
                unit.description.values(
                    of: UnitPreset("", ["decay": Float(decay), "highRatio": 1, "lowRatio": 1, "mix": 100])))
            let count = Int(48_000 * (decay + 2))
            var noise = SmallNoise()
            let input = (0..<channels).map { _ in (0..<count).map { _ in noise.next() } }
            let power = { (x: [Float]) in x[(count - 96_000)...].reduce(0.0) { $0 + Double($1 * $1) } }
            for (x, y) in zip(input, UnitDrive.render(unit, input)) {
                #expect(abs(10 * log10(power(y) / power(x))) < 1.5)
            }
        }
    }

    @Test func `width ranges from identical to uncorrelated sides`() {
        let correlation = { (width: Float) -> Double in
            let paths = RoomResponse.paths(.reverb, ["width": width, "mix": 100], seconds: 1)
            let (l, r) = (paths[0], paths[1])
            let dot = { (a: [Double], b: [Double]) in zip(a, b).reduce(0) { $0 + $1.0 * $1.1 } }
            return dot(l, r) / (dot(l, l) * dot(r, r)).squareRoot()
        }
        #expect(correlation(0) > 0.99999)
        #expect(abs(correlation(100)) < 0.2)
        #expect((0.6...0.95).contains(correlation(50)))
    }

    @Test func `a sustained tone neither wavers nor beats`() {
        let unit = UnitType.reverb.makeUnit(sampleRate: 48_000, channelCount: 2)
        unit.set(unit.description.values(of: UnitPreset("", ["mix": 100])))
        let tone = UnitDrive.sine(480, rate: 48_000, count: 480_000, amplitude: 0.5)
        let output = UnitDrive.render(unit, [tone, tone])[0]
        // Whole periods of 100 frames: after four decays each equals the previous one.
        let levels = stride(from: 288_000, to: 480_000, by: 4800).map { start in
            output[start..<start + 4800].reduce(0.0) { $0 + Double($1 * $1) }
        }
        #expect(10 * log10(levels.max()! / levels.min()!) < 0.001)
        #expect(zip(output[300_000...].prefix(48_000), output[300_100...]).allSatisfy { abs($0 - $1) < 1e-5 })
    }
}
