// SPDX-License-Identifier: Apache-2.0

import BenchReports
import EarshotAudioBase
import Foundation

/// ViSQOL of songs encoded at 128 kb/s by Earshot, LAME and ffmpeg, all decoded by ffmpeg.
enum CodecQuality {
    private static let seconds = 6

    static func figures(_ workshop: Workshop) throws -> [Report] {
        // ViSQOL's audio mode requires 48 kHz.
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
        let music = try workshop.music(seconds: 600, format: format)
        let clips = [20, 130, 320, 450]
        let original = workshop.path("clip.wav")
        var scores: [String: [Double]] = [:]
        var delays: [String: [Int]] = [:]
        let coders: [(name: String, ending: String, arguments: (String) -> [String])] = [
            ("our MP3", "mp3", { workshop.convert(original, $0, "--bitrate", "128") }),
            ("lame -b 128", "mp3", { ["lame", "--quiet", "-b", "128", original, $0] }),
            ("ffmpeg's MP3", "mp3", { ["ffmpeg", "-v", "error", "-y", "-i", original, "-b:a", "128k", $0] }),
            ("our AAC", "m4a", { workshop.convert(original, $0, "--bitrate", "128") }),
            ("ffmpeg's AAC", "m4a", { ["ffmpeg", "-v", "error", "-y", "-i", original, "-b:a", "128k", $0] }),
        ]
        for clip in clips {
            try Cost.finish([try Cost.start(["sox", "-D", music, original, "trim", "\(clip)", "\(seconds)"])])
            for coder in coders {
                let (coded, decoded) = (workshop.path("coded.\(coder.ending)"), workshop.path("decoded.wav"))
                try Cost.finish([try Cost.start(coder.arguments(coded))])
                try Cost.finish([try Cost.start(["ffmpeg", "-v", "error", "-y", "-i", coded, decoded])])
                let score = Double(
                    try workshop.judged(by: "music.py", [original, decoded]).trimmingCharacters(
                        in: .whitespacesAndNewlines))
                scores[coder.name, default: []].append(score ?? .nan)
                delays[coder.name, default: []].append(try delay(workshop, original, decoded))
            }
        }
        func mean(_ name: String) -> Double { (scores[name] ?? []).reduce(0, +) / Double(clips.count) }
        func summary(_ name: String) -> String {
            let each = (scores[name] ?? []).map { decimal($0, 2) }.joined(separator: ", ")
            return "\(name) \(decimal(mean(name), 3)) (\(each); delays \(delays[name] ?? []) frames)"
        }
        func report(_ ours: String, _ theirs: [String]) -> Report {
            let worst = theirs.flatMap { their in zip(scores[ours] ?? [], scores[their] ?? []).map { $0 - $1 } }.min()
            let all = ([ours] + theirs).map(summary).joined(separator: "; ")
            return Report(
                "\(ours) at 128 kb/s, ViSQOL (audio) of \(clips.count) clips of \(seconds) s: \(all); the least that ours has "
                    + "more, clip by clip", worst ?? .nan, "MOS-LQO", .atLeast(-0.05),
                against: theirs.joined(separator: " and "))
        }
        return [report("our MP3", ["lame -b 128", "ffmpeg's MP3"]), report("our AAC", ["ffmpeg's AAC"])]
    }

    /// Returns the delay of a decoded sound in frames where its middle matches the original best.
    private static func delay(_ workshop: Workshop, _ original: String, _ decoded: String) throws -> Int {
        let (a, b) = (try workshop.samples(original)[0], try workshop.samples(decoded)[0])
        let (first, count, reach) = (3 * 48_000, 8_192, 2_400)
        func product(_ lag: Int) -> Float { (0..<count).reduce(0) { $0 + a[first + $1] * b[first + lag + $1] } }
        return (-reach...reach).max { product($0) < product($1) } ?? 0
    }
}
