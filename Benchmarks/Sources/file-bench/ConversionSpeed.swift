// SPDX-License-Identifier: Apache-2.0

import BenchReports
import Foundation
import PairedTimes

/// Complete conversions, each program on one core, one after the other: the same input, the same settings.
enum ConversionSpeed {
    private struct Peer {
        var name: String
        var arguments: [String]
        /// True if the other program does the same work, so that ours must be as fast.
        var isLike = true
        /// True if it is only part of long runs.
        var isSpare = false
    }

    private struct Work {
        var name: String
        /// The extension of the input.
        var input = "wav"
        /// True if it is so fast that a short run needs twenty times the sound: the time of a start varies by 10 ms.
        var isQuick = false
        var ours: (_ input: String, _ output: String) -> [String]
        var peers: (_ input: String, _ output: String) -> [Peer]
    }

    static func figures(_ workshop: Workshop) throws -> [Report] {
        // Subtract a program's start, measured with one second of sound.
        let start = try inputs(workshop, seconds: 1)
        return try works(workshop).flatMap { work in
            let seconds = work.isQuick && !workshop.isLong ? 20 * workshop.seconds : workshop.seconds
            return try figures(work, workshop, seconds, try inputs(workshop, seconds: seconds), start)
        }
    }

    /// Returns paths by their extensions.
    private static func inputs(_ workshop: Workshop, seconds: Int) throws -> [String: String] {
        let (wav, mp3) = (try workshop.music(seconds: seconds), workshop.path("music-\(seconds).mp3"))
        if !FileManager.default.fileExists(atPath: mp3) {
            try Cost.finish([try Cost.start(["lame", "--quiet", "-V2", wav, mp3])])
        }
        return ["wav": wav, "mp3": mp3]
    }

    private static func figures(
        _ work: Work, _ workshop: Workshop, _ seconds: Int, _ inputs: [String: String], _ starts: [String: String]
    ) throws -> [Report] {
        guard let input = inputs[work.input], let start = starts[work.input] else { return [] }
        func cost(_ arguments: (String) -> [String]) throws -> Cost {
            try Cost(running: arguments(input)) - Cost(running: arguments(start))
        }
        let output = workshop.path("out")
        let peers = work.peers(input, output).indices.filter {
            workshop.isLong || !work.peers(input, output)[$0].isSpare
        }
        var pairs: [[(ours: Cost, theirs: Cost)]] = peers.map { _ in [] }
        // Use three times as many pairs if the limit would be missed: a shared machine changes its speed by half.
        let count = workshop.isLong ? 1 : 3
        for round in 0..<3 * count {
            for (n, index) in peers.enumerated()
            where round < count || isMissed(pairs[n], work.peers(input, output)[index]) {
                let ours = try cost { work.ours($0, output) }
                pairs[n].append((ours, try cost { work.peers($0, output)[index].arguments }))
            }
        }
        return zip(peers, pairs).map { index, pairs in
            let peer = work.peers(input, output)[index]
            let (ours, theirs) = (Cost(median: pairs.map(\.ours)), Cost(median: pairs.map(\.theirs)))
            let ratios = ratios(pairs)
            return Report(
                "\(work.name), \(seconds) s of stereo: ours \(ours.summary), \(peer.name) \(theirs.summary), by the wall "
                    + "\(decimal(theirs.wall / max(1e-3, ours.wall), 2)) times as fast, by the processor's time",
                PairedTimes.median(ratios), least: ratios.max(), "times as fast",
                peer.isLike ? .atLeast(leastRatio) : nil,
                against: peer.name)
        }
    }

    private static let leastRatio = 0.95

    private static func ratios(_ pairs: [(ours: Cost, theirs: Cost)]) -> [Double] {
        pairs.map { $0.theirs.processor / max(1e-3, $0.ours.processor) }
    }

    private static func isMissed(_ pairs: [(ours: Cost, theirs: Cost)], _ peer: Peer) -> Bool {
        peer.isLike && (ratios(pairs).max() ?? 0) < leastRatio
    }

    private static func ffmpeg(_ input: String, _ output: String, _ rest: String...) -> [String] {
        ["ffmpeg", "-v", "error", "-y", "-threads", "1", "-i", input] + rest + [output]
    }

    private static func sox(_ input: String, _ output: [String], _ effects: String...) -> [String] {
        ["sox", "-V1", "-D", "--single-threaded", input] + output + effects
    }

    private static func works(_ workshop: Workshop) -> [Work] {
        [
            Work(
                name: "WAV to FLAC, level 5", isQuick: true,
                ours: { workshop.convert($0, $1 + ".flac", "--compression", "5") },
                peers: { input, output in
                    [
                        Peer(name: "sox (libFLAC too)", arguments: sox(input, ["-C", "5", output + ".flac"])),
                        Peer(
                            name: "flac (libFLAC's own program)",
                            arguments: ["flac", "-s", "-f", "-5", "-o", output + ".flac", input], isLike: false,
                            isSpare: true),
                        Peer(
                            name: "ffmpeg (an encoder of its own, larger files)",
                            arguments: ffmpeg(input, output + ".flac", "-c:a", "flac"), isLike: false, isSpare: true),
                    ]
                }),
            Work(
                name: "WAV to MP3, V2",
                ours: { workshop.convert($0, $1 + ".mp3", "--bitrate", "V2") },
                peers: { input, output in
                    [
                        Peer(name: "lame", arguments: ["lame", "--quiet", "-V2", input, output + ".mp3"]),
                        Peer(
                            name: "ffmpeg (LAME too)",
                            arguments: ffmpeg(input, output + ".mp3", "-c:a", "libmp3lame", "-q:a", "2"), isSpare: true),
                    ]
                }),
            Work(
                name: "WAV to AAC, 128 kb/s",
                ours: { workshop.convert($0, $1 + ".m4a", "--bitrate", "128") },
                peers: { input, output in
                    [
                        Peer(
                            name: "ffmpeg (libavcodec too)",
                            arguments: ffmpeg(input, output + ".m4a", "-c:a", "aac", "-b:a", "128k"))
                    ]
                }),
            Work(
                name: "MP3 to WAV of 16 bits", input: "mp3", isQuick: true,
                ours: { workshop.convert($0, $1 + ".wav", "--bits", "16") },
                peers: { input, output in
                    [
                        Peer(
                            name: "ffmpeg (a decoder of its own; ours is libmpg123)",
                            arguments: ffmpeg(input, output + ".wav", "-c:a", "pcm_s16le")),
                        Peer(
                            name: "lame --decode", arguments: ["lame", "--quiet", "--decode", input, output + ".wav"],
                            isSpare: true),
                    ]
                }),
            Work(
                name: "44.1 to 48 kHz, WAV to WAV of 16 bits", isQuick: true,
                ours: { workshop.convert($0, $1 + ".wav", "--rate", "48000") },
                peers: { input, output in
                    let wav = ["-b", "16", output + ".wav"]
                    return [
                        Peer(name: "sox rate -h", arguments: sox(input, wav, "rate", "-h", "48000")),
                        Peer(
                            name: "sox rate -m", arguments: sox(input, wav, "rate", "-m", "48000"), isSpare: true),
                        Peer(
                            name: "ffmpeg by soxr, precision 20",
                            arguments: ffmpeg(
                                input, output + ".wav", "-af", "aresample=48000:resampler=soxr:precision=20", "-c:a",
                                "pcm_s16le")),
                        Peer(
                            name: "ffmpeg as it comes (see rate: a shorter filter that lets images through)",
                            arguments: ffmpeg(input, output + ".wav", "-ar", "48000", "-c:a", "pcm_s16le"),
                            isLike: false, isSpare: true),
                    ]
                }),
        ]
    }
}
