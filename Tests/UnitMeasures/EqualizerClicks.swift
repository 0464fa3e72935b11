// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Glibc

extension EqualizerMeasure {
    /// A change while a tone sounds.
    struct Edit: Sendable {
        var name: String
        var from: [Float]
        var to: [Float]
        /// The frames of the engine's ramp.
        var over: Int
    }

    /// Typical edits: numbers over the engine's 20 ms, switches at once, which the kernel must soften.
    static func edits() -> [Edit] {
        let peak = values("flat", ["band4.frequency": 400, "band4.gain": 12])
        let off = values("flat", ["band4.frequency": 400, "band4.gain": 12, "band4.on": 0])
        let piece = UnitRamp.segment
        var edits = [
            Edit(name: "a peak's gain from 0 to 12 dB", from: values(), to: peak, over: 960),
            Edit(
                name: "a peak from 400 Hz to 4 kHz", from: peak,
                to: values("flat", ["band4.frequency": 4_000, "band4.gain": 12]), over: 960),
            Edit(name: "a peak switched on", from: off, to: peak, over: piece),
            Edit(name: "a peak switched off", from: peak, to: off, over: piece),
        ]
        for (t, type) in types.enumerated() where type != "peak" {
            let other = values("flat", ["band4.frequency": 400, "band4.gain": 12, "band4.type": Float(t)])
            edits.append(Edit(name: "peak to \(type)", from: peak, to: other, over: piece))
            edits.append(Edit(name: "\(type) to peak", from: other, to: peak, over: piece))
        }
        for preset in unit.presets where preset.name != "flat" {
            edits.append(Edit(name: "flat to \(preset.name)", from: values(), to: values(preset.name), over: 960))
            edits.append(Edit(name: "\(preset.name) to flat", from: values(preset.name), to: values(), over: 960))
        }
        return edits
    }

    /// Returns the peak above 3 kHz, in dBFS, while a tone of 400 Hz passes through an edit. The tone is at −12 dBFS, so that
    /// with 12 dB more it is at full scale.
    static func click(_ edit: Edit, rate: Double = 48_000) -> Double {
        let count = Int(rate / 2)
        let tone = UnitDrive.sine(400, rate: rate, count: count, amplitude: 0.25)
        let equalizer = UnitType.equalizer.makeUnit(sampleRate: rate, channelCount: 1)
        equalizer.set(edit.from)
        let changes = UnitDrive.ramp(unit, from: edit.from, to: edit.to, at: count / 2 + 17, over: edit.over)
        let heard = UnitDrive.render(equalizer, [tone], blocks: [64], changes: changes)[0]
        let residual = highPass(heard.map(Double.init), above: 3_000, rate: rate)
        // Without the onset of the tone.
        let top = residual[(count / 4)...].reduce(0) { max($0, abs($1)) }
        return 20 * log10(max(1e-12, top))
    }

    /// Applies a linear-phase high-pass with a Blackman–Harris window; the stop band is below −92 dB.
    static func highPass(_ signal: [Double], above frequency: Double, rate: Double) -> [Double] {
        let half = 200
        let cut = 2 * Double.pi * frequency / rate
        var taps = (-half...half).map { n in n == 0 ? cut / Double.pi : sin(cut * Double(n)) / (Double.pi * Double(n)) }
        taps = zip(taps, Spectrum.windowed([Double](repeating: 1, count: taps.count))).map { -$0 * $1 }
        let sum = taps.reduce(0, +)
        taps = taps.map { $0 / -sum }  // the low-pass inside is 1 at 0 Hz, so the tone is gone
        taps[half] += 1
        return (0..<signal.count - 2 * half).map { at in
            var y = 0.0
            for (k, tap) in taps.enumerated() { y += tap * signal[at + k] }
            return y
        }
    }

    static func clickFigures() -> [Figure] {
        let clicks = edits().map { ($0.name, click($0)) }
        guard let worst = clicks.max(by: { $0.1 < $1.1 }) else { return [] }
        return [
            Figure(
                "equalizer, \(clicks.count) edits under a tone, what is heard besides (worst: \(worst.0))", worst.1,
                "dBFS", .atMost(-60), against: "the tone itself")
        ]
    }
}
