// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Glibc

/// Measures a resampler with tones.
public struct ToneConverter: ~Copyable {
    private var resampler: Resampler
    private let from: Double
    private let to: Double

    /// A resampler between two sample rates in hertz.
    public init(from: Double, to: Double, quality: Resampler.Quality = .transparent) {
        self.from = from
        self.to = to
        resampler = Resampler(from: from, to: to, channelCount: 1, quality: quality, maximumFrameCount: 512)
    }

    /// Converts a tone of amplitude 1. Returns `count` frames after the filter has settled, and the position of the first.
    public mutating func tone(_ frequency: Double, count: Int) -> (samples: [Float], first: Int) {
        resampler.reset()
        let settle = Int(Double(2 * resampler.halfLength) * max(1, to / from)) + 512
        let block = AudioBuffer(channelCount: 1, frameCapacity: 512)
        var output: [Float] = []
        var at = 0
        while output.count < settle + count {
            let needed = resampler.inputNeeded(for: 512)
            let input = resampler.input[0] + resampler.inputOffset
            for i in 0..<needed { input[i] = Float(cos(2 * Double.pi * frequency * Double(at + i) / from)) }
            at += needed
            resampler.render(block.channels, frameCount: 512, adding: needed)
            output.append(contentsOf: UnsafeBufferPointer(start: block.channels[0], count: 512))
        }
        return (Array(output[settle..<settle + count]), settle)
    }

    /// Returns the level of a tone after conversion, and of everything else in the output, in dB relative to the input tone.
    public mutating func levels(_ frequency: Double, count: Int = 8192) -> (tone: Double, rest: Double) {
        let samples = tone(frequency, count: count).samples
        let power = samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(count)
        guard frequency < to / 2 else { return (-300, 10 * log10(max(power * 2, 1e-30))) }
        let fit = SineFit(samples, frequency: frequency / to)
        return (20 * log10(max(fit.amplitude, 1e-15)), 10 * log10(max(fit.residualPower * 2, 1e-30)))
    }
}

/// The least-squares fit of a sine of known frequency to a signal, and its residual.
public struct SineFit {
    /// The amplitude of the sine.
    public let amplitude: Double
    /// The mean square of the signal minus the sine.
    public let residualPower: Double

    /// - Parameter frequency: as a fraction of the sampling rate, above 0 and below 0.5.
    public init(_ samples: [Float], frequency: Double) {
        var (cc, ss, cs, cx, sx) = (0.0, 0.0, 0.0, 0.0, 0.0)
        for (i, x) in samples.enumerated() {
            let c = cos(2 * Double.pi * frequency * Double(i))
            let s = sin(2 * Double.pi * frequency * Double(i))
            cc += c * c
            ss += s * s
            cs += c * s
            cx += c * Double(x)
            sx += s * Double(x)
        }
        let d = cc * ss - cs * cs
        let a = (cx * ss - sx * cs) / d
        let b = (sx * cc - cx * cs) / d
        amplitude = (a * a + b * b).squareRoot()
        var rest = 0.0
        for (i, x) in samples.enumerated() {
            let p = 2 * Double.pi * frequency * Double(i)
            let r = Double(x) - a * cos(p) - b * sin(p)
            rest += r * r
        }
        residualPower = rest / Double(samples.count)
    }
}

/// Measures conversions at `Resampler.Quality.transparent`, tone by tone: 24 in the pass band, 12 in the transition, 24 above.
public func conversionFigures() -> [Figure] {
    let pairs: [(Double, Double)] = [
        (44_100, 48_000), (48_000, 44_100), (48_000, 96_000), (96_000, 48_000), (48_000, 16_000), (16_000, 48_000),
        (48_000, 8_000), (8_000, 48_000), (44_100, 192_000), (192_000, 44_100), (44_101.5, 48_000),
    ]
    return pairs.flatMap { from, to in conversionFigures(from: from, to: to) } + steerableFigures()
}

/// Measures the resampler with which playout follows a remote peer's clock: with 300 ppm of drift, and with another sample rate.
private func steerableFigures() -> [Figure] {
    [(48_000.0, 48_014.4), (44_100, 48_000)].map { from, to in
        let edge = 0.4 * from
        var converter = ToneConverter(from: from, to: to, quality: .steerable(halfLength: 16))
        let rest = (0..<24).map { converter.levels(20 * pow(edge / 20, Double($0) / 23)).rest }.max() ?? 0
        return Figure(
            "playout's, \(from / 1_000) to \(to / 1_000) kHz, THD+N, 20 Hz to \(short(edge)) kHz", rest, "dB",
            .atMost(-100), against: "the tone that went in")
    }
}

private func conversionFigures(from: Double, to: Double) -> [Figure] {
    let name = "\(short(from)) to \(short(to)) kHz"
    let half = min(from, to) / 2
    let edge = min(20_000, half * 20 / 22.05)
    var converter = ToneConverter(from: from, to: to)
    var (ripple, rest, folded) = (0.0, -300.0, -300.0)
    for k in 0..<24 {
        let level = converter.levels(20 * pow(edge / 20, Double(k) / 23))
        ripple = max(ripple, abs(level.tone))
        rest = max(rest, level.rest)
    }
    for k in 0..<12 { rest = max(rest, converter.levels(edge + (half - edge) * (Double(k) + 0.37) / 12).rest) }
    var figures = [
        Figure(
            "\(name), 20 Hz to \(short(edge)) kHz", ripple, "dB off", .atMost(0.1), against: "the tone that went in"),
        Figure(
            "\(name), aliases, images and noise of tones to the half rate", rest, "dB", .atMost(-100),
            against: "the tone that went in"),
    ]
    if from > to {
        for k in 0..<24 {
            folded = max(folded, converter.levels(half + (from / 2 - half) * (Double(k) + 0.05) / 24).rest)
        }
        figures.append(
            Figure(
                "\(name), tones above \(short(half)) kHz", folded, "dB", .atMost(-100),
                against: "the tone that went in"))
    }
    figures.append(
        Figure(
            "\(name), at \(short(0.9535 * half)) kHz", converter.levels(0.9535 * half).tone, "dB", .within(-7 ... -5),
            against: "the middle of the transition: 6 dB down"))
    return figures
}

private func short(_ hertz: Double) -> String { "\((hertz * 10).rounded() / 10_000)" }
