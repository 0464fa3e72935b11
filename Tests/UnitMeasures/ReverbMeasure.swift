// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Glibc

/// Wet only, without pre-delay, with equal decay of all frequencies.
private let neutral: [String: Float] = ["preDelay": 0, "highRatio": 1, "lowRatio": 1, "mix": 100]
private let octaves = [125.0, 250, 500, 1000, 2000, 4000]

/// Measures a reverb: decay, density, modes, an end, no clicks.
public func reverbFigures() -> [Figure] {
    reverbDecayFigures() + reverbDensityFigures() + reverbModeFigures() + reverbEndFigures() + reverbClickFigures()
}

/// Measures the octave between 125 Hz and 4 kHz whose decay differs most from the setting, over decays and sizes.
public func reverbDecayFigures() -> [Figure] {
    let cases: [(decay: Float, size: Float)] = [
        (0.2, 14), (0.4, 12), (0.8, 14), (1.5, 12), (1.5, 14), (1.5, 26), (4, 14), (10, 14),
    ]
    return cases.map { decay, size in
        let values = neutral.merging(["decay": decay, "size": size]) { $1 }
        let responses = RoomResponse.paths(.reverb, values, seconds: Double(decay) * 0.8 + 0.3)
        let errors = octaves.map {
            (RoomResponse.decay(responses, octave: $0, rate: 48_000) / Double(decay) - 1) * 100
        }
        let worst = errors.max { abs($0) < abs($1) }!
        return Figure(
            "reverb decay \(decay) s, \(size) m, worst octave", worst, "%", .within(-10...10),
            against: "the setting, T30")
    }
}

/// Measures the time until the echoes are dense, for the slowest of four paths: every preset, and sizes from end to end at three
/// sample rates.
public func reverbDensityFigures() -> [Figure] {
    var cases = UnitType.reverb.description.presets.map {
        ($0.name, $0.values.merging(["mix": 100, "preDelay": 0]) { $1 }, 48_000.0)
    }
    for rate in [44_100.0, 48_000, 96_000] {
        for size in [Float(12), 16, 20, 26] {
            cases.append(("\(size) m at \(Int(rate)) Hz", ["size": size, "decay": 2, "mix": 100, "preDelay": 0], rate))
        }
    }
    return cases.map { name, values, rate in
        let slowest = RoomResponse.paths(.reverb, values, rate: rate, seconds: 0.6)
            .map { RoomResponse.timeUntilDense($0, above: 0.9, rate: rate) }.max()!
        return Figure(
            "reverb \(name), echo density above 0.9 after", slowest * 1000, "ms", .atMost(100), against: "Abel & Huang")
    }
}

/// Measures the loudest mode of every preset, and of rooms with equal decay of all frequencies at three sample rates: line
/// lengths are whole frames, so each sample rate has different modes.
public func reverbModeFigures() -> [Figure] {
    var cases = UnitType.reverb.description.presets.map {
        ($0.name, $0.values.merging(["mix": 100, "preDelay": 0]) { $1 }, 48_000.0)
    }
    for rate in [44_100.0, 48_000, 96_000] {
        for (decay, size) in [(Float(0.2), Float(12)), (1, 12), (2, 14)] {
            let values = neutral.merging(["decay": decay, "size": size]) { $1 }
            cases.append(("neutral, \(decay) s, \(size) m at \(Int(rate)) Hz", values, rate))
        }
    }
    return cases.map { name, values, rate in
        let decay = Double(values["decay"] ?? 1.5)
        let responses = RoomResponse.paths(.reverb, values, rate: rate, seconds: max(0.95, decay * 0.65 + 0.1))
        let mode = RoomResponse.loudestMode(responses, decay: decay, rate: rate)
        return Figure(
            "reverb \(name), loudest mode (\(Int(mode.frequency)) Hz) above its neighbours", mode.level, "dB",
            .atMost(10), against: "the median of the modes within a third of an octave")
    }
}

/// Measures the end of tails: a second of noise at full scale, then silence.
public func reverbEndFigures() -> [Figure] {
    [Float(0.2), 1.5, 4].flatMap { decay -> [Figure] in
        let unit = UnitType.reverb.makeUnit(sampleRate: 48_000, channelCount: 2)
        unit.set(unit.description.values(of: UnitPreset("", ["decay": decay, "mix": 100, "lowRatio": 1])))
        let frames = 48_000 + Int(48_000 * Double(decay) * 3) + 2 * unit.memory
        var noise = SmallNoise()
        let input = (0..<2).map { _ in (0..<frames).map { $0 < 48_000 ? noise.next() : 0 } }
        let output = UnitDrive.render(unit, input)
        let last = output.map { $0.lastIndex { $0 != 0 } ?? 0 }.max()!
        let end = output.map { $0[max(0, last - 960)...last].map(abs).max()! }.max()!
        return [
            Figure(
                "reverb \(decay) s, zeros after", Double(last - 48_000 - unit.memory) / 48_000 / Double(decay),
                "decays",
                .atMost(3), against: "the end of the input"),
            Figure(
                "reverb \(decay) s, level in the last 20 ms before", 20 * log10(Double(end)), "dB", .atMost(-140),
                against: "full scale"),
        ]
    }
}

/// Measures clicks while each parameter moves from end to end.
public func reverbClickFigures() -> [Figure] {
    UnitType.reverb.description.parameters.map { parameter in
        let level = MovedTone.click(
            .reverb, ["mix": 100, "preDelay": 0.02], moving: parameter.identifier, from: parameter.range.lowerBound,
            to: parameter.range.upperBound)
        return Figure("reverb, \(parameter.identifier) moved, click", level, "dB", .atMost(-60), against: "full scale")
    }
}

/// Noise that is the same on each machine (a linear congruential generator).
public struct SmallNoise {
    private var state: UInt32 = 1

    /// Starts from the beginning.
    public init() {}

    /// The next sample, −1 to 1.
    public mutating func next() -> Float {
        state = state &* 1_664_525 &+ 1_013_904_223
        return Float(Int32(bitPattern: state)) / 2_147_483_648
    }
}
