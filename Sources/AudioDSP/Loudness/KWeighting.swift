// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// A second-order filter section in double precision.
struct WeightingSection: BitwiseCopyable {
    var b0, b1, b2, a1, a2: Double

    /// Returns the section with the same response at another sample rate. It is converted to its analogue prototype by the
    /// inverse bilinear transform, and back by the bilinear transform, such that the response at `frequency` stays exact.
    func moved(from rate: Double, to newRate: Double, keeping frequency: Double) -> WeightingSection {
        // With z⁻¹ = (1 − s) / (1 + s) a polynomial in z⁻¹ becomes a polynomial in s, times a factor common to both polynomials.
        func analogue(_ c0: Double, _ c1: Double, _ c2: Double) -> (Double, Double, Double) {
            (c0 + c1 + c2, 2 * (c0 - c2), c0 - c1 + c2)
        }
        let numerator = analogue(b0, b1, b2)
        let denominator = analogue(1, a1, a2)
        let scale = earshot_tan(.pi * frequency / rate) / earshot_tan(.pi * frequency / newRate)
        func digital(_ p: (Double, Double, Double)) -> (Double, Double, Double) {
            let c1 = p.1 * scale
            let c2 = p.2 * scale * scale
            return (p.0 + c1 + c2, 2 * (p.0 - c2), p.0 - c1 + c2)
        }
        let b = digital(numerator)
        let a = digital(denominator)
        return WeightingSection(b0: b.0 / a.0, b1: b.1 / a.0, b2: b.2 / a.0, a1: a.1 / a.0, a2: a.2 / a.0)
    }
}

/// The K-weighting and channel weights of ITU-R BS.1770-4.
enum KWeighting {
    /// Returns the shelf of K-weighting (Table 1, at 48 kHz) for any rate; exact at 1 kHz, where the standard calibrates.
    static func shelf(sampleRate: Double) -> WeightingSection {
        WeightingSection(
            b0: 1.535_124_859_586_97, b1: -2.691_696_189_406_38, b2: 1.198_392_810_852_85,
            a1: -1.690_659_293_182_41, a2: 0.732_480_774_215_85
        ).moved(from: 48_000, to: sampleRate, keeping: 1_000)
    }

    /// Returns the high-pass of K-weighting (Table 2, at 48 kHz) for any rate, with the table's high-frequency gain of 0.04 dB.
    static func highPass(sampleRate: Double) -> WeightingSection {
        WeightingSection(b0: 1, b1: -2, b2: 1, a1: -1.990_047_454_833_98, a2: 0.990_072_250_366_21)
            .moved(from: 48_000, to: sampleRate, keeping: 38)
    }

    /// Returns the weight of a channel's power in the usual order: left, right, centre, low-frequency effects, surrounds; 4
    /// channels are left, right and two surrounds, 5 have no low-frequency effects.
    static func weight(of channel: Int, channelCount: Int) -> Double {
        switch (channelCount, channel) {
        case (4, 2...3), (5, 3...4), (6, 4...5), (8, 4...5): 1.41
        case (6, 3), (8, 3): 0
        default: 1
        }
    }
}
