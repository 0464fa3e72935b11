// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Glibc

/// Measures rooms from their impulse responses.
public enum RoomResponse {
    /// Returns a unit's responses to a click in each of its channels, each output separately, in that order.
    public static func paths(
        _ type: UnitType, _ values: [String: Float], rate: Double = 48_000, channelCount: Int = 2, seconds: Double
    ) -> [[Double]] {
        let unit = type.makeUnit(sampleRate: rate, channelCount: channelCount)
        unit.set(type.description.values(of: UnitPreset("measured", values)))
        return (0..<channelCount).flatMap { c -> [[Double]] in
            unit.reset()
            var input = [[Float]](
                repeating: [Float](repeating: 0, count: Int(seconds * rate)), count: channelCount)
            input[c][0] = 1
            return UnitDrive.render(unit, input, blocks: [512]).map { $0.map(Double.init) }
        }
    }

    /// Returns the decay time for 60 dB in an octave, in seconds, from the decay from −5 to −35 dB (T30 of ISO 3382-1): squares
    /// summed backwards (M. R. Schroeder, "New Method of Measuring Reverberation Time", JASA 37, 1965), and a least-squares line.
    /// The sums of all responses are added, since one response with a few hundred degrees of freedom has a random error of a
    /// tenth.
    public static func decay(_ responses: [[Double]], octave: Double, rate: Double) -> Double {
        var sums = [Double](repeating: 0, count: responses[0].count)
        for response in responses {
            let band = octaveBand(response, octave, rate)
            var sum = 0.0
            for i in band.indices.reversed() {
                sum += band[i] * band[i]
                sums[i] += sum
            }
        }
        var n = 0.0
        var (sx, sy, sxx, sxy) = (0.0, 0.0, 0.0, 0.0)
        for i in sums.indices {
            let level = 10 * log10(sums[i] / sums[0] + 1e-30)
            if level > -5 { continue }
            if level < -35 { break }
            let t = Double(i) / rate
            n += 1
            sx += t
            sy += level
            sxx += t * t
            sxy += t * level
        }
        return -60 * (n * sxx - sx * sx) / (n * sxy - sx * sy)
    }

    /// Returns an octave, by Butterworth filters of order four at its edges.
    static func octaveBand(_ signal: [Double], _ centre: Double, _ rate: Double) -> [Double] {
        var x = signal
        for q in [0.541_196_1, 1.306_563_0] {
            x = biquad(x, centre * 0.5.squareRoot(), q, rate, highPass: true)
            x = biquad(x, centre * 2.0.squareRoot(), q, rate, highPass: false)
        }
        return x
    }

    /// A section of R. Bristow-Johnson's cookbook.
    static func biquad(_ x: [Double], _ frequency: Double, _ q: Double, _ rate: Double, highPass: Bool) -> [Double] {
        let w = 2 * Double.pi * frequency / rate
        let alpha = sin(w) / (2 * q)
        let a0 = 1 + alpha
        let b0 = (highPass ? 1 + cos(w) : 1 - cos(w)) / 2 / a0
        let b1 = highPass ? -2 * b0 : 2 * b0
        let a1 = -2 * cos(w) / a0
        let a2 = (1 - alpha) / a0
        var (s1, s2) = (0.0, 0.0)
        return x.map { x in
            let y = b0 * x + s1
            s1 = b1 * x - a1 * y + s2
            s2 = b0 * x - a2 * y
            return y
        }
    }

    /// Returns the seconds after the click until the echoes are as dense as noise: the first time from which the normalised echo
    /// density, averaged over 20 ms, exceeds a threshold.
    ///
    /// The density is the fraction of a Hann window of 20 ms in which the response exceeds its standard deviation there, divided
    /// by that fraction for Gaussian noise (J. S. Abel, P. Huang, "A Simple, Robust Measure of Reverberation Echo Density", 121st
    /// AES Convention, 2006).
    public static func timeUntilDense(_ response: [Double], above threshold: Double, rate: Double) -> Double {
        let half = Int(0.01 * rate)
        let hop = Int(0.001 * rate)
        let window = (-half...half).map { 0.5 + 0.5 * cos(Double.pi * Double($0) / Double(half + 1)) }
        let total = window.reduce(0, +)
        let expected = erfc(0.5.squareRoot()) * total
        var densities: [Double] = []
        for centre in stride(from: 0, to: min(response.count, Int(0.5 * rate)), by: hop) {
            var power = 0.0
            for k in -half...half where response.indices.contains(centre + k) {
                power += window[k + half] * response[centre + k] * response[centre + k]
            }
            let deviation = (power / total).squareRoot()
            var beyond = 0.0
            for k in -half...half where response.indices.contains(centre + k) {
                if abs(response[centre + k]) > deviation { beyond += window[k + half] }
            }
            densities.append(beyond / expected)
        }
        for start in 0..<densities.count - 20 {
            if densities[start..<start + 20].reduce(0, +) / 20 > threshold { return Double(start * hop) / rate }
        }
        return .infinity
    }
}
