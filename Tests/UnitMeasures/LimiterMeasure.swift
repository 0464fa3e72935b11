// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Glibc

/// Measures the limiter: true peak at sixteen times the sample rate on difficult material, distortion, recovery, delay.
public func limiterFigures() -> [Figure] {
    var figures = [Figure]()
    for rate in [44_100.0, 48_000] {
        for (name, sound) in hardMaterial(rate) {
            let output = limited(sound, rate, ceiling: -1)
            figures.append(
                Figure(
                    "over its ceiling, \(name), \(Int(rate)) Hz",
                    20 * log10(TruePeakReference.peak(output)) + 1, "dB", .within(-1...0.1),
                    against: "16-fold interpolation"))
        }
    }
    return figures + [distortion(60), distortion(997), distortion(5_003), recovery(), delay(44_100), delay(48_000)]
}

private func limited(_ sound: [Float], _ rate: Double, ceiling: Float, release: Float = 0.06) -> [Float] {
    let unit = UnitType.limiter.makeUnit(sampleRate: rate, channelCount: 1)
    unit.set([ceiling, release, 0])
    return UnitDrive.render(unit, [sound + [Float](repeating: 0, count: unit.latency)])[0]
}

private func hardMaterial(_ rate: Double) -> [(String, [Float])] {
    let count = Int(rate / 5)
    var noise = MeasureSound.Noise(7)
    func made(_ sample: (Int) -> Double) -> [Float] { (0..<count).map { Float(sample($0)) } }
    func bursts(_ frequency: () -> Double, every gap: Int) -> [Float] {
        var sound = [Float](repeating: 0, count: count)
        for start in stride(from: 100, to: count - gap, by: gap) {
            let length = 2 + Int(abs(noise.next()) * Double(min(400, gap - 10)))
            let level = 1 + 6 * abs(noise.next())
            let f = frequency()
            for i in 0..<length { sound[start + i] = Float(level * sin(2 * .pi * f * Double(i) + .pi / 4)) }
        }
        return sound
    }
    return [
        ("fs/4 sine at 45°", made { 2 * 2.0.squareRoot() * sin(.pi / 2 * Double($0) + .pi / 4) }),
        ("19 kHz sine", made { 4 * sin(2 * .pi * 19_000 / rate * Double($0)) }),
        ("square wave, 997 Hz", made { sin(2 * .pi * 997 / rate * Double($0)) < 0 ? -2 : 2 }),
        ("square wave, 5,010 Hz", made { sin(2 * .pi * 5_010 / rate * Double($0)) < 0 ? -2 : 2 }),
        ("uniform white noise", made { _ in 4 * noise.next() }),
        ("normal white noise", made { _ in 2 * noise.normal() }),
        ("random signs", made { _ in noise.next() < 0 ? -2 : 2 }),
        ("bursts at fs/4", bursts({ 0.25 }, every: 700)),
        ("bursts of any pitch", bursts({ 0.24 + 0.2 * noise.next() }, every: 1_100)),
        ("speech, 12 dB up", MeasureSound.speech.prefix(68_000).map { $0 * 3.981 }),
    ]
}

/// Measures everything except the tone itself, in dB below it, for a constant tone that is 6 dB too loud.
private func distortion(_ frequency: Double) -> Figure {
    let rate = 48_000.0
    let length = 32_768
    let bin = (frequency / rate * Double(length)).rounded()
    let sound = UnitDrive.sine(bin * rate / Double(length), rate: rate, count: 3 * length, amplitude: 2)
    let output = limited(sound, rate, ceiling: -0.1).suffix(length).map(Double.init)
    let magnitudes = Spectrum.magnitudes(Spectrum.windowed(output))
    var tone = 0.0
    var rest = 0.0
    for (k, m) in magnitudes.enumerated() {
        if abs(Double(k) - bin) <= 4 { tone += m * m } else { rest += m * m }
    }
    return Figure(
        "distortion and noise of a steady tone 6 dB over, \(Int(frequency)) Hz", 10 * log10(rest / tone), "dB",
        .atMost(-80), against: "analysis")
}

/// Measures the time after a burst that is 12 dB too loud until a soft tone is within 1 dB of its level again.
private func recovery() -> Figure {
    let rate = 48_000.0
    var sound = UnitDrive.sine(1_000, rate: rate, count: 48_000, amplitude: 0.1)
    for i in 9_600..<9_840 { sound[i] *= 40 }
    let output = limited(sound, rate, ceiling: 0, release: 0.06).dropFirst(Int(rate) / 1_000)
    var back = 9_840
    for start in stride(from: 9_888, to: 47_000, by: 48) {
        let top = output[(output.startIndex + start)..<(output.startIndex + start + 96)].map { abs($0) }.max()!
        if top < 0.1 * 0.891 { back = start + 96 }
    }
    return Figure(
        "time to recover to 1 dB after 12 dB, release 60 ms", Double(back - 9_840) / rate * 1_000, "ms",
        .atMost(200), against: "analysis")
}

private func delay(_ rate: Double) -> Figure {
    let unit = UnitType.limiter.makeUnit(sampleRate: rate, channelCount: 1)
    return Figure(
        "delay at \(Int(rate)) Hz", Double(unit.latency) / rate * 1_000, "ms", .atMost(2),
        against: "1.5 to 2 ms")
}
