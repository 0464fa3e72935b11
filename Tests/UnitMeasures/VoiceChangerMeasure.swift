// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Glibc

/// A voice changer with these parameters.
public func voiceChanger(
    _ values: [String: Float] = [:], rate: Double = 48_000, channelCount: Int = 1
) -> UnitInstance {
    let unit = UnitType.voiceChanger.makeUnit(sampleRate: rate, channelCount: channelCount)
    unit.set(unit.description.values(of: UnitPreset("test", values)))
    return unit
}

/// Sung vowels: the harmonics of a glottal pulse train, which fall by 6 dB per octave, and five resonances.
public enum Vowel {
    /// The frequencies of the first three formants in hertz (G. E. Peterson and H. L. Barney, JASA 24, 1952: men).
    public static let formants: [Character: [Double]] = [
        "a": [730, 1_090, 2_440], "i": [270, 2_290, 3_010], "u": [300, 870, 2_240],
    ]

    /// Sings one vowel. The pitch moves up and down by `sweep` semitones once per second; `band` is the bandwidth in hertz.
    public static func sing(
        _ vowel: Character, _ pitch: Double, rate: Double, seconds: Double, sweep: Double = 0, band: Double = 9_000
    ) -> [Float] {
        let count = Int(rate * seconds)
        let highest = min(0.45 * rate, band)
        var signal = [Double](repeating: 0, count: count)
        var phase = 0.0
        for i in 0..<count {
            let turn = 2 * (Double(i) / rate).truncatingRemainder(dividingBy: 1)
            let f = pitch * exp2(sweep * (turn < 1 ? 2 * turn - 1 : 3 - 2 * turn) / 12)
            phase += f / rate
            phase -= phase.rounded(.down)
            // Harmonics by the Chebyshev recursion, faded out towards the highest.
            let c = cos(2 * Double.pi * phase)
            var before = 1.0
            var now = c
            var k = 1.0
            while k * f < highest {
                signal[i] += now / k * min(1, (highest - k * f) / 1_500)
                (before, now) = (now, 2 * c * now - before)
                k += 1
            }
        }
        for (f, width) in zip(formants[vowel]! + [3_500, 4_500], [60.0, 80, 110, 150, 200]) where f < 0.4 * rate {
            let r = exp(-Double.pi * width / rate)
            let a = 2 * r * cos(2 * Double.pi * f / rate)
            var (y1, y2) = (0.0, 0.0)
            for i in 0..<count {
                let y = signal[i] * (1 - a + r * r) + a * y1 - r * r * y2
                (y2, y1) = (y1, y)
                signal[i] = y
            }
        }
        let peak = signal.reduce(0) { max($0, abs($1)) }
        return signal.map { Float(0.2 * $0 / peak) }
    }

    /// Returns the pitch of a constant sound in hertz: its harmonics' frequencies in one long window, weighted by their level.
    public static func pitch(of signal: ArraySlice<Float>, near guess: Double, rate: Double) -> Double {
        let spectrum = Spectrum.magnitudes(Spectrum.windowed(signal.map(Double.init)))
        let bin = rate / Double(signal.count)
        var (sum, weight) = (0.0, 0.0)
        for k in 1...8 where Double(k) * guess < 0.4 * rate {
            let middle = Double(k) * guess / bin
            var top = Int(middle)
            for j in Int(middle * 0.95)...Int(middle * 1.05) where spectrum[j] > spectrum[top] { top = j }
            let (a, b, c) = (log(spectrum[top - 1]), log(spectrum[top]), log(spectrum[top + 1]))
            let place = Double(top) + 0.5 * (a - c) / (a - 2 * b + c)
            sum += place * bin / Double(k) * spectrum[top]
            weight += spectrum[top]
        }
        return sum / weight
    }

    /// Returns the peaks nearest to `near` of the all-pole envelope of the long-term spectrum, as ratios to it.
    ///
    /// The pitch should sweep, so that harmonics cover all frequencies; 10 poles over 0 to 5 kHz.
    public static func formantRatios(of signal: ArraySlice<Float>, near: [Double], rate: Double) -> [Double] {
        let size = 8_192
        var power = [Double](repeating: 0, count: size / 2 + 1)
        var at = signal.startIndex
        while at + size <= signal.endIndex {
            let part = Spectrum.magnitudes(Spectrum.windowed(signal[at..<at + size].map(Double.init)))
            for k in power.indices { power[k] += part[k] * part[k] }
            at += size / 2
        }
        // The autocorrelation of the signal below 5 kHz, as if sampled at 10 kHz, with a tilt of 6 dB per octave.
        let last = Int(5_000 * Double(size) / rate)
        let order = 12
        let lags = (0...order).map { lag in
            (0...last).reduce(0.0) { sum, k in
                let w = Double.pi * Double(k) / Double(last)
                return sum + power[k] * (1 + 0.95 * 0.95 - 1.9 * cos(w)) * cos(w * Double(lag))
            }
        }
        var (a, error) = ([Double](repeating: 0, count: order), lags[0] * (1 + 1e-6))
        for m in 0..<order {
            var r = lags[m + 1]
            for i in 0..<m { r -= a[i] * lags[m - i] }
            let k = r / error
            let old = a
            a[m] = k
            for i in 0..<m { a[i] = old[i] - k * old[m - 1 - i] }
            error *= 1 - k * k
        }
        let envelope = (0..<5_000).map { f in
            let w = Double.pi * Double(f) / 5_000
            var (re, im) = (1.0, 0.0)
            for (i, c) in a.enumerated() {
                re -= c * cos(w * Double(i + 1))
                im += c * sin(w * Double(i + 1))
            }
            return 1 / (re * re + im * im)
        }
        let peaks = (150..<4_999).filter { envelope[$0] > envelope[$0 - 1] && envelope[$0] >= envelope[$0 + 1] }
        return near.map { f in (peaks.map { Double($0) / f }.min { abs(log($0)) < abs(log($1)) }) ?? 0 }
    }
}

/// Measures the voice changer: pitch, formants, delay, noise unchanged.
public func voiceChangerFigures() -> [Figure] {
    let rate = 48_000.0
    var figures: [Figure] = []
    var (worst, place) = (0.0, "")
    for (vowel, pitches) in [("a", [82.0, 147, 262, 523]), ("i", [110, 196, 784]), ("u", [131, 349])] {
        for pitch in pitches {
            let sung = Vowel.sing(Character(vowel), pitch, rate: rate, seconds: 1)
            for shift in [-12.0, -5, 0.37, 4, 12] {
                let unit = voiceChanger(["pitch": Float(shift)])
                let heard = UnitDrive.render(unit, [sung])[0]
                let wanted = pitch * exp2(shift / 12)
                let found = Vowel.pitch(of: heard[12_000..<12_000 + 32_768], near: wanted, rate: rate)
                let cents = abs(1_200 * log2(found / wanted))
                if cents > worst { (worst, place) = (cents, "\(vowel) at \(pitch) Hz by \(shift)") }
            }
        }
    }
    figures.append(
        Figure("pitch, worst of 45 (\(place))", worst, "cents", .atMost(3), against: "vowels of known pitch"))

    var moved = [0.0, 0, 0]
    for (vowel, pitches) in [("a", [100.0, 140, 190]), ("i", [82, 100]), ("u", [82, 100, 120])] {
        for pitch in pitches {
            let near = Vowel.formants[Character(vowel)]!
            let sung = Vowel.sing(Character(vowel), pitch, rate: rate, seconds: 2.2, sweep: 4)
            let before = Vowel.formantRatios(of: sung[9_600...], near: near, rate: rate)
            for shift in [-5.0, -3, 3, 5, 7] {
                let heard = UnitDrive.render(voiceChanger(["pitch": Float(shift)]), [sung])[0]
                let after = Vowel.formantRatios(of: heard[9_600...], near: near, rate: rate)
                for k in 0..<3 { moved[k] = max(moved[k], 100 * abs(after[k] / before[k] - 1)) }
            }
        }
    }
    for k in 0..<3 {
        figures.append(
            Figure("formant \(k + 1) while pitch moves", moved[k], "%", .atMost(5), against: "a, i, u before the move"))
    }

    var scaled = 0.0
    for (vowel, shift) in [("a", -4.0), ("a", 4), ("i", -3), ("i", 4), ("u", -3), ("u", 4)] {
        let ratio = exp2(shift / 12)
        let near = Vowel.formants[Character(vowel)]!
        let sung = Vowel.sing(Character(vowel), 100, rate: rate, seconds: 2.2, sweep: 4)
        let before = Vowel.formantRatios(of: sung[9_600...], near: near, rate: rate)
        let heard = UnitDrive.render(voiceChanger(["formant": Float(shift)]), [sung])[0]
        let after = Vowel.formantRatios(of: heard[9_600...], near: near.map { $0 * ratio }, rate: rate)
        for k in 0..<3 { scaled = max(scaled, 100 * abs(after[k] / before[k] - 1)) }
    }
    figures.append(Figure("formants against their setting", scaled, "%", .atMost(6), against: "a, i, u at 100 Hz"))

    let unit = voiceChanger()
    figures.append(
        Figure("latency", Double(unit.latency) / rate * 1_000, "ms", .atMost(30), against: "what it reports"))
    figures.append(
        Figure("periodicity of noise, 7 semitones up", noiseTone(), "of 1", .atMost(0.2), against: "white noise"))
    return figures
}

/// Returns the highest normalised autocorrelation of processed white noise between 2 and 15 ms.
private func noiseTone() -> Double {
    var random = UInt32(7)
    let noise: [Float] = (0..<96_000).map { _ in
        random = random &* 1_664_525 &+ 1_013_904_223
        return Float(random >> 8) / 8_388_608 - 1
    }
    let heard = UnitDrive.render(voiceChanger(["pitch": 7]), [noise])[0][24_000..<90_000].map(Double.init)
    let count = heard.count - 720
    let power = heard[0..<count].reduce(0) { $0 + $1 * $1 }
    return stride(from: 96, through: 720, by: 1).map { lag in
        var sum = 0.0
        for i in 0..<count { sum += heard[i] * heard[i + lag] }
        return abs(sum) / power
    }.max()!
}

/// Measures the cost of a block, for benchmarks only, since tests do not judge time.
public func voiceChangerCostFigures() -> [Figure] {
    let sung = Vowel.sing("a", 180, rate: 48_000, seconds: 4)
    let names = ["high", "child", "giant", "robot", "whisper", "harmony"]
    return names.map { name in
        let description = UnitType.voiceChanger.description
        let unit = voiceChanger(description.presets.first { $0.name == name }!.values)
        let from = AudioBuffer(channelCount: 1, frameCapacity: sung.count)
        let to = AudioBuffer(channelCount: 1, frameCapacity: sung.count)
        for i in sung.indices { from.channels[0][i] = sung[i] }
        // Each block's fastest of five runs, since the machine interrupts some; then the slowest block.
        var times = [Double](repeating: .infinity, count: sung.count / 64)
        for _ in 0..<5 {
            unit.reset()
            for k in times.indices {
                let start = ContinuousClock.now
                unit.process(from.channels, to.channels, offset: 64 * k, frameCount: 64)
                times[k] = min(times[k], Double((ContinuousClock.now - start).components.attoseconds) / 1e12)
            }
        }
        return Figure(
            "64 frames of mono, \(name), slowest block", times.max()!, "µs", .atMost(150),
            against: "a period of 1,333 µs")
    }
}
