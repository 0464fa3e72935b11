// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Glibc

extension SpatialMeasure {
    /// Measures the audible artefacts of movements.
    static func movements() -> [Figure] {
        func circle(_ t: Double) -> [Float] {
            values(ListenerGeometry.place(azimuth: Float(360 * t), elevation: 0, distance: 1))
        }
        func through(_ t: Double) -> [Float] { values(SIMD3(Float(10 * (t - 0.5)), 0, -0.02)) }
        func across(_ t: Double) -> [Float] { values(SIMD3(t < 0.5 ? -1 : 1, 0, -1)) }
        func away(_ t: Double) -> [Float] { values(SIMD3(0, 0, t < 0.5 ? -1 : -100)) }
        func away20(_ t: Double) -> [Float] { values(SIMD3(0, 0, -1 - 99 * Float(min(max(t - 0.5, 0) / 0.02, 1)))) }
        func panned(_ t: Double) -> [Float] { values(SIMD3(1, 0, -1), ["algorithm": t < 0.5 ? 0 : 1]) }
        return [
            ("circling once a second, 1 kHz, above 4 kHz", circle, 1_000.0, true),
            ("circling once a second, 9 kHz, below 5 kHz", circle, 9_000.0, false),
            ("through the head at 10 m/s, 1 kHz, above 4 kHz", through, 1_000.0, true),
            ("from left to right over 32 frames, 1 kHz, above 4 kHz", across, 1_000.0, true),
            ("from left to right over 32 frames, 9 kHz, below 5 kHz", across, 9_000.0, false),
            ("from 1 to 100 m over 32 frames, 1 kHz, above 4 kHz", away, 1_000.0, true),
            ("from 1 to 100 m over 20 ms, 1 kHz, above 4 kHz", away20, 1_000.0, true),
            ("from head to panning over 32 frames, 1 kHz, above 4 kHz", panned, 1_000.0, true),
        ].map { name, path, tone, high in
            Figure(
                "click, \(name)", residue(path, tone: tone, above: high), "dBFS", .atMost(-60),
                against: "a tone of 0 dBFS")
        }
    }

    /// Returns the peak in dBFS that a moving source adds to a tone on the other side of 4 or 5 kHz.
    static func residue(
        _ path: (Double) -> [Float], tone: Double, above: Bool, frames: Int = 48_000
    ) -> Double {
        let unit = UnitType.spatializer.makeUnit(sampleRate: 48_000, channelCount: 1)
        unit.set(path(0))
        let input = UnitDrive.sine(tone, rate: 48_000, count: frames)
        var ears: [[Float]] = [[], []]
        for start in stride(from: 0, to: frames, by: 32) {
            unit.set(path(Double(start + 32) / 48_000), over: 32)
            let piece = UnitDrive.render(unit, [Array(input[start..<start + 32])])
            for c in 0..<2 { ears[c] += piece[c] }
        }
        let cut = (above ? 4_000.0 : 5_000.0) / 48_000
        let half = 200
        let filter = (-half...half).map { i -> Double in
            let x = 2 * Double.pi * cut * Double(i)
            let low = i == 0 ? 2 * cut : sin(x) / (Double.pi * Double(i))
            return above ? (i == 0 ? 1 : 0) - low : low
        }
        let window = Spectrum.windowed([Double](repeating: 1, count: 2 * half + 1))
        let taps = zip(filter, window).map { $0 * $1 }
        var peak = 0.0
        for ear in ears {
            // The onset of the tone is not a click.
            for n in 1_000..<frames - taps.count {
                var sum = 0.0
                for k in 0..<taps.count { sum += taps[k] * Double(ear[n + k]) }
                peak = max(peak, abs(sum))
            }
        }
        return 20 * log10(max(peak, 1e-15))
    }
}
