// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Glibc

/// Measures the compressor's static curve, its distortion of a tone, and its times.
public func compressorFigures() -> [Figure] {
    var figures = [Figure]()
    for rate in [44_100.0, 48_000, 96_000] {
        for frequency in [50.0, 997, 6_011] {
            var worst = 0.0
            for (threshold, ratio, knee) in [(-20.0, 4.0, 6.0), (-40, 2, 0), (-30, 20, 12), (-12, 8, 24)] {
                let reached = staticCurve(rate, frequency, threshold: threshold, ratio: ratio, knee: knee)
                worst = max(worst, reached)
            }
            figures.append(
                Figure(
                    "static curve, \(Int(frequency)) Hz at \(Int(rate)) Hz", worst, "dB", .atMost(0.2),
                    against: "Giannoulis et al. 2012"))
        }
    }
    return figures + [compressorDistortion(60), compressorDistortion(997)] + [attackTime(), releaseTime()]
}

/// Returns the output level in dB for an input level in dB by the paper's curve.
private func analytic(_ level: Double, threshold: Double, ratio: Double, knee: Double) -> Double {
    let over = level - threshold
    if 2 * over < -knee { return level }
    if 2 * abs(over) <= knee, knee > 0 {
        return level + (1 / ratio - 1) * (over + knee / 2) * (over + knee / 2) / (2 * knee)
    }
    return threshold + over / ratio
}

/// Returns the largest error for constant sines from −60 to 0 dB, in dB.
private func staticCurve(
    _ rate: Double, _ frequency: Double, threshold: Double, ratio: Double, knee: Double
) -> Double {
    var worst = 0.0
    for level in stride(from: -60.0, through: 0, by: 4) {
        let unit = UnitType.compressor.makeUnit(sampleRate: rate, channelCount: 1)
        unit.set([Float(threshold), Float(ratio), Float(knee), 0.005, 0.05, 0, 0])
        let sound = UnitDrive.sine(frequency, rate: rate, count: Int(rate / 5), amplitude: pow(10, level / 20))
        let output = UnitDrive.render(unit, [sound])[0]
        let tail = Int(rate / 10)  // whole waves of 50 and nearly of the others
        let reached = 20 * log10(rms(output.suffix(tail)) / rms(sound.suffix(tail))) + level
        worst = max(worst, abs(reached - analytic(level, threshold: threshold, ratio: ratio, knee: knee)))
    }
    return worst
}

private func rms(_ samples: ArraySlice<Float>) -> Double {
    (samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(samples.count)).squareRoot()
}

private func compressorDistortion(_ frequency: Double) -> Figure {
    let rate = 48_000.0
    let length = 32_768
    let bin = (frequency / rate * Double(length)).rounded()
    let unit = UnitType.compressor.makeUnit(sampleRate: rate, channelCount: 1)
    unit.set([-20, 4, 6, 0.005, 0.05, 0, 0])
    let sound = UnitDrive.sine(bin * rate / Double(length), rate: rate, count: 3 * length, amplitude: 0.9)
    let output = UnitDrive.render(unit, [sound])[0].suffix(length).map(Double.init)
    var tone = 0.0
    var rest = 0.0
    for (k, m) in Spectrum.magnitudes(Spectrum.windowed(output)).enumerated() {
        if abs(Double(k) - bin) <= 4 { tone += m * m } else { rest += m * m }
    }
    return Figure(
        "distortion of a steady tone under 14 dB of reduction, \(Int(frequency)) Hz",
        10 * log10(rest / tone),
        "dB", .atMost(-70), against: "analysis")
}

/// Returns the gain over time in dB, for sound that is never 0.
private func gains(_ sound: [Float], _ values: [Float], rate: Double) -> [Double] {
    let unit = UnitType.compressor.makeUnit(sampleRate: rate, channelCount: 1)
    unit.set(values)
    return zip(UnitDrive.render(unit, [sound])[0], sound).map { 20 * log10(Double($0) / Double($1)) }
}

/// Measures the time to 63 % of the reduction after a step up, relative to the attack time.
private func attackTime() -> Figure {
    let rate = 48_000.0
    let sound = (0..<24_000).map { Float($0 < 4_800 ? 0.01 : 1) }
    let path = gains(sound, [-20, 4, 0, 0.02, 0.1, 0, 0], rate: rate)
    let reached = path[4_800...].firstIndex { $0 <= -15 * (1 - exp(-1)) }!
    return Figure(
        "attack set to 20 ms", Double(reached - 4_800) / rate * 1_000, "ms", .within(19.8...20.2),
        against: "time constant")
}

/// Measures the time until 37 % of the reduction is left after a step down, minus the hold.
private func releaseTime() -> Figure {
    let rate = 48_000.0
    let sound = (0..<48_000).map { Float($0 < 12_000 ? 1 : 0.01) }
    let path = gains(sound, [-20, 4, 0, 0.001, 0.1, 0, 0], rate: rate)
    let reached = path[12_000...].firstIndex { $0 >= -15 * exp(-1) }!
    return Figure(
        "hold and release set to 100 ms", Double(reached - 12_000) / rate * 1_000, "ms", .within(112...118),
        against: "time constant and 12.5 to 16.7 ms of hold")
}
