// SPDX-License-Identifier: Apache-2.0

import BenchReports
import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import UnitMeasures

/// The effect of rate conversion on tones, by the programs that ``ConversionSpeed`` times, since a fast one may do less.
enum RateQuality {
    private static let level: Float = 0.5
    private static let tones = (up: [997.0, 20_000, 21_500], down: [20_000.0, 23_000])

    static func figures(_ workshop: Workshop) throws -> [Report] {
        let (low, high) = (workshop.path("tones-44.wav"), workshop.path("tones-48.wav"))
        try write(tones.up, rate: 44_100, to: low)
        try write(tones.down, rate: 48_000, to: high)
        let output = workshop.path("rate.wav")
        func sox(_ quality: String) -> (String, Double) -> [String] {
            { input, rate in
                ["sox", "-V1", "-D", input, "-e", "float", "-b", "32", output, "rate", quality, "\(Int(rate))"]
            }
        }
        func ffmpeg(_ filter: String) -> (String, Double) -> [String] {
            { input, rate in
                ["ffmpeg", "-v", "error", "-y", "-i", input, "-af", "aresample=\(Int(rate))\(filter)"]
                    + ["-c:a", "pcm_f32le", output]
            }
        }
        let programs: [(name: String, arguments: (String, Double) -> [String])] = [
            ("ours", { workshop.convert($0, output, "--rate", "\(Int($1))", "--bits", "float") }),
            ("sox rate -m", sox("-m")), ("sox rate -h", sox("-h")), ("sox rate -v", sox("-v")),
            ("ffmpeg as it comes", ffmpeg("")),
            ("ffmpeg by soxr, precision 20", ffmpeg(":resampler=soxr:precision=20")),
        ]
        return try programs.flatMap { name, arguments in
            try Cost.finish([try Cost.start(arguments(low, 48_000))])
            let up = try workshop.samples(output)[0]
            try Cost.finish([try Cost.start(arguments(high, 44_100))])
            let down = try workshop.samples(output)[0]
            let noise = rest(up, 0, tones.up[0], rate: 48_000).rest
            let edge = [rest(up, 1, 20_000, rate: 48_000).tone, rest(down, 0, 20_000, rate: 44_100).tone]
            let image = rest(up, 2, 21_500, rate: 48_000).rest
            let alias = rest(down, 1, nil, rate: 44_100).rest
            let isOurs = name == "ours"
            return [
                Report(
                    "\(name): 44.1 to 48 kHz, noise beside a tone of 997 Hz", noise, "dB", isOurs ? .atMost(-100) : nil,
                    against: "the tone"),
                Report(
                    "\(name): both ways, 20 kHz at the least", edge.min() ?? 0, "dB", isOurs ? .atLeast(-0.1) : nil,
                    against: "the tone that went in"),
                Report(
                    "\(name): 44.1 to 48 kHz, the image of 21.5 kHz at 22.6 kHz", image, "dB",
                    isOurs ? .atMost(-100) : nil, against: "the tone that went in"),
                Report(
                    "\(name): 48 to 44.1 kHz, what 23 kHz leaves, at 21.1 kHz", alias, "dB",
                    isOurs ? .atMost(-100) : nil, against: "the tone that went in"),
            ]
        }
    }

    /// Writes a second of each tone.
    private static func write(_ tones: [Double], rate: Double, to path: String) throws {
        let format = AudioFormat(sampleRate: rate, channelCount: 1)
        let writer = try AudioFileWriter(path: path, format: format, type: .wav, sampleFormat: .float32)
        let second = AudioBuffer(channelCount: 1, frameCapacity: Int(rate))
        for tone in tones {
            for i in 0..<Int(rate) { second.channels[0][i] = level * Float(sin(2 * .pi * tone * Double(i) / rate)) }
            try writer.write(second.channels, frameCount: Int(rate))
        }
        try writer.close()
    }

    /// Returns the levels of the tone and of everything else in the middle of a second, in dB relative to the input.
    private static func rest(
        _ samples: [Float], _ second: Int, _ tone: Double?, rate: Double
    ) -> (tone: Double, rest: Double) {
        let first = Int((Double(second) + 0.3) * rate)
        let part = Array(samples[first..<first + 16_384])
        let whole = part.reduce(0) { $0 + Double($1) * Double($1) } / Double(part.count)
        let reference = Double(level * level) / 2
        guard let tone else { return (-300, 10 * log10(max(whole / reference, 1e-30))) }
        let fit = SineFit(part, frequency: tone / rate)
        return (
            20 * log10(max(fit.amplitude / Double(level), 1e-15)),
            10 * log10(max(fit.residualPower / reference, 1e-30))
        )
    }
}
