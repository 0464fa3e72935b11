// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Glibc

/// A generator at a sample rate with these values.
public func generator(_ values: [String: Float], rate: Double = 48_000, channelCount: Int = 1) -> UnitInstance {
    let unit = UnitType.generator.makeUnit(sampleRate: rate, channelCount: channelCount)
    unit.set(unit.description.values(of: UnitPreset("measured", values)))
    return unit
}

/// Returns frames of a generator, one array per channel.
public func generated(_ unit: UnitInstance, _ count: Int, blocks: [Int] = [256]) -> [[Float]] {
    let silence = [[Float]](repeating: [Float](repeating: 0, count: count), count: unit.inputChannelCount)
    return UnitDrive.render(unit, silence, blocks: blocks)
}

/// Measures the generator's sine, sweep and noise.
public func generatorFigures() -> [Figure] { sineFigures() + sweepFigures() + pinkFigures() }

private func sineFigures() -> [Figure] {
    [20.0, 997, 19_997].map { hertz in
        let unit = generator(["frequency": Float(hertz), "gain": 0])
        let fit = SineFit(generated(unit, 48_000)[0], frequency: hertz / 48_000)
        let noise = 10 * log10(fit.residualPower / (fit.amplitude * fit.amplitude / 2))
        return Figure("sine of \(Int(hertz)) Hz, THD+N", noise, "dB", .atMost(-130), against: "the sine that fits best")
    } + [drift()]
}

/// Measures a sine of 997 Hz after two hours at 8 kHz.
private func drift() -> Figure {
    let unit = generator(["frequency": 997, "gain": 0], rate: 8_000)
    let block = AudioBuffer(channelCount: 1, frameCapacity: 4_000)
    for _ in 0..<14_400 { unit.process(block.channels, block.channels, frameCount: 4_000) }
    unit.process(block.channels, block.channels, frameCount: 4_000)
    let heard = Array(UnsafeBufferPointer(start: block.channels[0], count: 4_000))
    let ideal = UnitDrive.sine(997, rate: 8_000, count: 4_000)  // 7,200 s are whole periods
    return Figure(
        "sine after two hours", UnitDrive.difference(ideal, heard), "dB", .atMost(-120), against: "the sine by libm")
}

private func sweepFigures() -> [Figure] {
    [(20.0, 20_000.0, 10.0), (20_000, 20, 1), (100, 100, 0.5)].map { start, end, duration in
        let unit = generator([
            "waveform": 1, "gain": 0, "sweepStart": Float(start), "sweepEnd": Float(end),
            "sweepDuration": Float(duration),
        ])
        let frames = Int(duration * 48_000)
        let heard = generated(unit, 2 * frames)[0]
        let rate = log(end / start)
        func turns(_ t: Double) -> Double {
            rate == 0 ? start * t : start * duration / rate * (exp(t / duration * rate) - 1)
        }
        let ideal = (0..<2 * frames).map { i -> Float in
            let again = i >= frames
            let phase = turns(Double(again ? i - frames : i) / 48_000) + (again ? turns(duration) : 0)
            return Float(sin(2 * Double.pi * (phase - phase.rounded(.down))))
        }
        return Figure(
            "sweep from \(Int(start)) to \(Int(end)) Hz in \(duration) s, twice", UnitDrive.difference(ideal, heard),
            "dB", .atMost(-110), against: "the continuous sweep's closed form")
    }
}

/// The filter scales with the sample rate, so one sample rate is enough.
private func pinkFigures() -> [Figure] {
    let size = 1 << 16
    let count = 80
    let noise = generated(generator(["waveform": 3, "gain": 0]), size * count)[0]
    var power = [Double](repeating: 0, count: size / 2 + 1)
    for k in 0..<count {
        let piece = noise[k * size..<(k + 1) * size].map(Double.init)
        for (i, m) in Spectrum.magnitudes(Spectrum.windowed(piece)).enumerated() { power[i] += m * m }
    }
    // Octave bands from 24 kHz down to 23 Hz, where a band has 32 bins.
    var bands: [Double] = []
    var upper = size / 2
    while upper >= 64 {
        bands.append(10 * log10(power[upper / 2..<upper].reduce(0, +) / Double(upper - upper / 2)))
        upper /= 2
    }
    let slopes = zip(bands, bands.dropFirst()).map { $0 - $1 }
    let worst = slopes.max { abs($0 + 3.0103) < abs($1 + 3.0103) } ?? 0
    let level = 10 * log10(noise.reduce(0) { $0 + Double($1) * Double($1) } / Double(noise.count))
    return [
        Figure(
            "pink noise from 23 Hz to 24 kHz, the octave whose slope is farthest off", worst, "dB an octave",
            .within(-3.51 ... -2.51), against: "-3.01 dB an octave; \(count) spectra"),
        Figure("pink noise, level", level, "dB", .within(-12.6 ... -11.5), against: "-12.04 dB"),
    ]
}
