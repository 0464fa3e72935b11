// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Glibc

/// Measures the equalizer against the cookbook's formulas, and the artefacts of changes.
public func equalizerFigures() -> [Figure] {
    [44_100.0, 48_000, 96_000].flatMap { EqualizerMeasure.responseFigures(rate: $0) }
        + [48_000.0, 96_000, 192_000].map { EqualizerMeasure.noiseFigure(rate: $0) }
        + EqualizerMeasure.clickFigures()
}

/// Measurements of `UnitType.equalizer`.
public enum EqualizerMeasure {
    static let unit = UnitType.equalizer.description
    /// The filter types, in the order of their values.
    public static let types: [String] = {
        guard case .choice(let names) = unit.parameters[0].unit else { return [] }
        return names
    }()

    /// Returns the values of a preset, with some replaced by identifier.
    public static func values(_ preset: String = "flat", _ changes: [String: Float] = [:]) -> [Float] {
        guard let found = unit.presets.first(where: { $0.name == preset }) else { fatalError("no preset \(preset)") }
        var values = unit.values(of: found)
        for (identifier, value) in changes {
            guard let index = unit.index(of: identifier) else { fatalError("no parameter \(identifier)") }
            values[index] = value
        }
        return values
    }

    /// Returns the cookbook's sections for the values, one for each active band, and the overall gain.
    static func cookbook(_ values: [Float], rate: Double) -> (sections: [Cookbook], gain: Double) {
        var sections: [Cookbook] = []
        for b in 0..<8 where values[b * 5 + 4] == 1 {
            let (frequency, gain, q) = (values[b * 5 + 1], values[b * 5 + 2], values[b * 5 + 3])
            sections.append(
                Cookbook(
                    types[Int(values[b * 5])], frequency: Double(frequency), gain: Double(gain), q: Double(q),
                    rate: rate))
        }
        return (sections, pow(10, Double(values[40]) / 20))
    }

    /// Returns the largest differences from the cookbook between 20 Hz and 20 kHz: of the level in dB, where it is above −90 dB,
    /// and of the complex response in dB below 0. A level that should be below −90 dB and is not below −80 also counts.
    public static func error(_ values: [Float], rate: Double) -> (level: Double, complex: Double) {
        let (sections, gain) = cookbook(values, rate: rate)
        let count = length(sections)
        let equalizer = UnitType.equalizer.makeUnit(sampleRate: rate, channelCount: 1)
        equalizer.set(values)
        var impulse = [Float](repeating: 0, count: count)
        impulse[0] = 1
        let heard = UnitDrive.render(equalizer, [impulse], blocks: [4_096])[0]
        let (re, im) = Spectrum.transform(heard.map(Double.init))
        var (level, complex) = (0.0, 0.0)
        for bin in Int(20 * Double(count) / rate) + 1...Int(20_000 * Double(count) / rate) {
            // Every bin below 100 Hz, then about sixty per octave.
            guard bin < 300 || bin.isMultiple(of: max(1, bin / 90)) else { continue }
            let w = 2 * Double.pi * Double(bin) / Double(count)
            var expected = (gain, 0.0)
            for section in sections {
                let h = section.response(w)
                expected = (
                    expected.0 * h.real - expected.1 * h.imaginary, expected.0 * h.imaginary + expected.1 * h.real
                )
            }
            let power = expected.0 * expected.0 + expected.1 * expected.1
            let (x, y) = (re[bin] - expected.0, im[bin] - expected.1)
            complex = max(complex, (x * x + y * y) / max(1, power))
            let found = 10 * log10(max(1e-30, re[bin] * re[bin] + im[bin] * im[bin]))
            let wanted = 10 * log10(max(1e-30, power))
            if wanted > -90 {
                level = max(level, abs(found - wanted))
            } else if found > -80 {
                level = max(level, found + 80)
            }
        }
        return (level, 10 * log10(max(1e-30, complex)))
    }

    /// Returns a power of two of frames in which the longest ringing decays to −150 dB: a pole of radius r loses 20 lg r per
    /// frame.
    private static func length(_ sections: [Cookbook]) -> Int {
        let radius = sections.map { section in
            let square = section.a.0 * section.a.0 - 4 * section.a.1
            return square < 0 ? section.a.1.squareRoot() : (abs(section.a.0) + square.squareRoot()) / 2
        }
        let frames = -150 / (20 * log10(min(radius.max() ?? 0.5, 0.99999)))
        var count = 1 << 14
        while Double(count) < frames { count *= 2 }
        return count
    }

    /// Settings of one band, at the ends of their ranges and in between.
    static func shapes() -> [[Float]] {
        types.indices.flatMap { type in
            [
                (20, 24, 1), (20, -24, 0.1), (31.5, 6, 5), (50, 12, 18), (100, -6, 0.7), (1_000, 12, 2),
                (1_000, -24, 18),
                (5_000, 3, 0.3), (12_000, 18, 4), (20_000, 24, 0.7), (20_000, -24, 18), (20_000, 9, 0.1),
            ].map { (frequency: Float, gain: Float, q: Float) in
                values(
                    "flat",
                    ["band3.type": Float(type), "band3.frequency": frequency, "band3.gain": gain, "band3.q": q])
            }
        }
    }

    /// Measures every filter type and every preset.
    static func responseFigures(rate: Double) -> [Figure] {
        let (shapes, presets) = (shapes(), unit.presets.map { values($0.name) })
        let errors = (shapes + presets).map { error($0, rate: rate) }
        let name = "equalizer at \(Int(rate)) Hz"
        func worst(_ errors: some Sequence<Double>) -> Double { errors.max() ?? .infinity }
        return [
            Figure(
                "\(name), \(types.count) shapes in \(shapes.count) settings, 20 Hz to 20 kHz",
                worst(errors.prefix(shapes.count).map(\.level)), "dB", .atMost(0.1), against: "the cookbook's formulas"),
            Figure(
                "\(name), \(presets.count) presets, 20 Hz to 20 kHz",
                worst(errors.suffix(presets.count).map(\.level)), "dB", .atMost(0.1), against: "the cookbook's formulas"
            ),
            Figure(
                "\(name), level and phase together, error below the response", worst(errors.map(\.complex)), "dB",
                .atMost(-90), against: "the cookbook's formulas"),
        ]
    }

    /// Measures rounding noise: noise through the worst case, a narrow peak at 20 Hz, compared with the difference equation in
    /// double precision.
    static func noiseFigure(rate: Double) -> Figure {
        let values = values("flat", ["band3.frequency": 20, "band3.gain": 24, "band3.q": 18])
        var seed: UInt32 = 7
        let input = (0..<Int(rate)).map { _ in
            seed = seed &* 1_664_525 &+ 1_013_904_223
            return Float(Int32(bitPattern: seed)) * (0.25 / 2_147_483_648)
        }
        let equalizer = UnitType.equalizer.makeUnit(sampleRate: rate, channelCount: 1)
        equalizer.set(values)
        let heard = UnitDrive.render(equalizer, [input])[0]
        var expected = input.map(Double.init)
        for section in cookbook(values, rate: rate).sections { expected = section.filter(expected) }
        return Figure(
            "equalizer at \(Int(rate)) Hz, rounding of a 24 dB peak of Q 18 at 20 Hz",
            UnitDrive.difference(expected.map { Float($0) }, heard), "dB", .atMost(-140),
            against: "the difference equation in double precision")
    }
}
