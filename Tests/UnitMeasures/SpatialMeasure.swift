// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Glibc

/// Measures the 3D mixer's sources by their impulse responses, and with a tone while they move.
public enum SpatialMeasure {
    /// All figures.
    public static func figures() -> [Figure] { times() + levels() + distances() + movements() }

    /// A spatializer with a source at a place, in metres to the right, up and behind.
    public static func unit(at place: SIMD3<Float>, rate: Double = 48_000, _ more: [String: Float] = [:])
        -> UnitInstance
    {
        let unit = UnitType.spatializer.makeUnit(sampleRate: rate, channelCount: 1)
        unit.set(values(place, more))
        return unit
    }

    /// Returns the values of its parameters.
    public static func values(_ place: SIMD3<Float>, _ more: [String: Float] = [:]) -> [Float] {
        let named = more.merging(["x": place.x, "y": place.y, "z": place.z]) { first, _ in first }
        return UnitType.spatializer.description.values(of: UnitPreset("", named))
    }

    /// Returns the spectra of both ears' impulse responses; bin k is at k × rate / 4,096.
    public static func ears(
        azimuth: Float, elevation: Float = 0, rate: Double = 48_000
    ) -> [(real: [Double], imaginary: [Double])] {
        let unit = unit(
            at: ListenerGeometry.place(azimuth: azimuth, elevation: elevation, distance: 1), rate: rate)
        var impulse = [Float](repeating: 0, count: 4_096)
        impulse[0] = 1
        return UnitDrive.render(unit, [impulse]).map { Spectrum.transform($0.map(Double.init)) }
    }

    // MARK: Time

    private static func times() -> [Figure] {
        var whole = 0.0
        var edge = 0.0
        var excess = 0.0
        var sphereExcess = 0.0
        var bands = [(200.0, 500.0, 0.0), (1_000.0, 3_000.0, 0.0), (3_000.0, 8_000.0, 0.0)]
        for azimuth in stride(from: 0, to: 360, by: 10) {
            let lateral = asin(sin(Double(azimuth) * .pi / 180)) * 180 / .pi
            let expected = SphereReference.woodworth(lateralDegrees: lateral)
            let ears = ears(azimuth: Float(azimuth))
            whole = max(whole, abs(correlationDelay(ears, 100...20_000) - expected))
            edge = max(edge, abs(edgeDelay(azimuth: Float(azimuth)) - expected))
            for b in bands.indices {
                let hertz = stride(from: bands[b].0, through: bands[b].1, by: bands[b].0 / 4).map { $0 }
                let far = SphereReference.phaseDelays(hertz, degrees: 90 + lateral)
                let near = SphereReference.phaseDelays(hertz, degrees: 90 - lateral)
                let mean = zip(far, near).map { $0 - $1 }.reduce(0, +) / Double(hertz.count)
                let ours = meanPhaseDelay(ears, hertz)
                bands[b].2 = max(bands[b].2, abs(ours - mean))
                if b == 1 {
                    excess = max(excess, abs(ours - expected))
                    sphereExcess = max(sphereExcess, abs(mean - expected))
                }
            }
        }
        return [
            Figure(
                "time between the ears, 36 azimuths, correlation of 0.1 to 20 kHz, worst error", whole * 1e6, "µs",
                .atMost(30),
                against: "Woodworth's sphere"),
            Figure(
                "time between the ears, 36 azimuths, half height of the leading edge, worst error", edge * 1e6, "µs",
                .atMost(30), against: "Woodworth's sphere"),
            // Sound with a wavelength longer than the head reaches the far ear later than along Woodworth's path, by up to 3/2 of
            // his time: even a rigid sphere is not within 30 µs of Woodworth here.
            Figure(
                "time between the ears, 36 azimuths, mean phase delay of 1 to 3 kHz, most that it exceeds Woodworth's",
                excess * 1e6, "µs", .atMost(sphereExcess * 1e6), against: "how much the analytic rigid sphere's does"),
        ]
            + bands.map {
                Figure(
                    "time between the ears, 36 azimuths, mean phase delay of \(Int($0.0)) to \(Int($0.1)) Hz, worst error",
                    $0.2 * 1e6, "µs", .atMost(30), against: "the analytic rigid sphere")
            }
    }

    /// Returns the delay of the left ear in seconds at the maximum of the ears' correlation in a frequency band.
    static func correlationDelay(
        _ ears: [(real: [Double], imaginary: [Double])], _ band: ClosedRange<Double>, rate: Double = 48_000
    ) -> Double {
        let bins = (1..<ears[0].real.count).filter { band.contains(Double($0) * rate / 4_096) }
        let products = bins.map { cross(ears, $0) }
        func correlation(_ time: Double) -> Double {
            zip(bins, products).reduce(0) { sum, item in
                let angle = 2 * Double.pi * Double(item.0) * rate / 4_096 * time
                return sum + item.1.re * cos(angle) - item.1.im * sin(angle)
            }
        }
        var best = 0.0
        for step in [8e-6, 0.5e-6] {
            let around = step > 1e-6 ? 125 : 20
            let times = (-around...around).map { best + Double($0) * step }
            best = times.map { ($0, correlation($0)) }.max { $0.1 < $1.1 }?.0 ?? best
        }
        return best
    }

    /// Returns left times the conjugate of right.
    private static func cross(_ ears: [(real: [Double], imaginary: [Double])], _ k: Int) -> (re: Double, im: Double) {
        let (l, r) = (ears[0], ears[1])
        return (
            l.real[k] * r.real[k] + l.imaginary[k] * r.imaginary[k],
            l.imaginary[k] * r.real[k] - l.real[k] * r.imaginary[k]
        )
    }

    /// Returns the delay of the left ear in seconds: the mean of its phase delay over frequencies, unwrapped from 20 Hz up.
    private static func meanPhaseDelay(
        _ ears: [(real: [Double], imaginary: [Double])], _ hertz: [Double]
    ) -> Double {
        var phase = 0.0
        var phases = [0.0]
        for k in 1..<1_000 {
            let c = cross(ears, k)
            let turn = (atan2(c.im, c.re) - phase) / (2 * Double.pi)
            phase += 2 * Double.pi * (turn - turn.rounded())
            phases.append(phase)
        }
        let delays = hertz.map { f in
            let place = f * 4_096 / 48_000
            let k = Int(place)
            let part = place - Double(k)
            return -(phases[k] * (1 - part) + phases[k + 1] * part) / (2 * Double.pi * f)
        }
        return delays.reduce(0, +) / Double(hertz.count)
    }

    /// Returns the delay in seconds from the right ear's response reaching half its height to the left ear's, at 192 kHz.
    private static func edgeDelay(azimuth: Float) -> Double {
        let unit = unit(at: ListenerGeometry.place(azimuth: azimuth, distance: 1), rate: 192_000)
        var impulse = [Float](repeating: 0, count: 1_024)
        impulse[0] = 1
        let edges = UnitDrive.render(unit, [impulse]).map { ear -> Double in
            let half = (ear.map(abs).max() ?? 0) / 2
            let i = ear.firstIndex { abs($0) >= half } ?? 0
            let below = i > 0 ? abs(ear[i - 1]) : 0
            return Double(i) - 1 + Double((half - below) / (abs(ear[i]) - below))
        }
        return (edges[0] - edges[1]) / 192_000
    }

    // MARK: Level

    private static func levels() -> [Figure] {
        let octaves = [500.0, 1_000, 2_000, 4_000, 8_000]
        let thirds = (0...12).map { 500 * pow(2, Double($0) / 3) }
        return [
            Figure(
                "level between the ears, 36 azimuths, 0.5, 1, 2, 4, 8 kHz, worst error",
                levelError(every: 10, octaves), "dB", .atMost(3), against: "the analytic rigid sphere"),
            Figure(
                "level between the ears, every 2° of a quarter turn, third octaves 0.5 to 8 kHz, worst error",
                levelError(every: 2, thirds), "dB", .atMost(3), against: "the analytic rigid sphere"),
        ]
    }

    /// Returns the largest difference from the sphere's level difference, in dB.
    public static func levelError(every degrees: Int, _ hertz: [Double], rate: Double = 48_000) -> Double {
        var worst = 0.0
        for azimuth in stride(from: 0, through: degrees < 10 ? 90 : 359, by: degrees) {
            let lateral = asin(sin(Double(azimuth) * .pi / 180)) * 180 / .pi
            let ears = ears(azimuth: Float(azimuth), rate: rate)
            for f in hertz {
                let expected =
                    SphereReference.level(hertz: f, degrees: 90 - lateral)
                    - SphereReference.level(hertz: f, degrees: 90 + lateral)
                worst = max(worst, abs(level(ears[1], f, rate) - level(ears[0], f, rate) - expected))
            }
        }
        return worst
    }

    private static func level(_ ear: (real: [Double], imaginary: [Double]), _ hertz: Double, _ rate: Double) -> Double {
        let place = hertz * 4_096 / rate
        let k = Int(place)
        let part = place - Double(k)
        func at(_ k: Int) -> Double { 10 * log10(ear.real[k] * ear.real[k] + ear.imaginary[k] * ear.imaginary[k]) }
        return part == 0 ? at(k) : at(k) * (1 - part) + at(k + 1) * part
    }

    // MARK: Distance

    private static func distances() -> [Figure] {
        let laws: [(String, Float, (Double) -> Double)] = [
            ("exponential", 0, { pow($0 / 2, -1.5) }),
            ("inverse", 1, { 2 / (2 + 1.5 * ($0 - 2)) }),
            ("linear", 2, { 1 - 0.9 * ($0 - 2) / (100 - 2) }),
        ]
        return laws.map { name, model, law in
            let rolloff: Float = model == 2 ? 0.9 : 1.5
            func loudness(_ distance: Float) -> Double {
                let unit = unit(
                    at: ListenerGeometry.place(azimuth: 40, elevation: 10, distance: distance),
                    [
                        "distanceModel": model, "referenceDistance": 2, "maximumDistance": 100,
                        "rolloffFactor": rolloff,
                    ])
                let out = UnitDrive.render(unit, [UnitDrive.sine(1_000, rate: 48_000, count: 4_800)])
                return 10 * log10(out[0].suffix(2_400).reduce(0) { $0 + Double($1) * Double($1) })
            }
            let reference = loudness(2)
            var worst = 0.0
            for distance: Float in [0.5, 1, 1.9, 2, 2.5, 3, 5, 8, 13, 20, 35, 60, 99, 100, 250] {
                let clamped = min(max(Double(distance), 2), 100)
                worst = max(worst, abs(loudness(distance) - reference - 20 * log10(law(clamped))))
            }
            return Figure(
                "\(name) distance law, 0.5 to 250 m, worst error", worst, "dB", .atMost(0.1), against: "its formula")
        }
    }
}
