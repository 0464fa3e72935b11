import BenchReports
import PairedTimes

/// Whole conversions, each program on one core, one after the other: the same file in, the same settings.
enum ConversionSpeed {
    private struct Peer {
        var name: String
        var arguments: [String]
        /// Whether it does the same by the same library, or as much, so that ours must be as fast.
        var isLike = true
    }

    private struct Work {
        var name: String
        /// The ending of what is read.
        var input = "wav"
        var ours: (_ input: String, _ output: String) -> [String]
        var peers: (_ input: String, _ output: String) -> [Peer]
    }

    static func figures(_ workshop: Workshop) throws -> [Report] {
        let inputs = ["wav": try workshop.music(seconds: workshop.seconds), "mp3": workshop.path("music.mp3")]
        // What a program takes to start is not what is asked for: it is taken off, as a second's sound has it.
        let starts = ["wav": try workshop.music(seconds: 1), "mp3": workshop.path("second.mp3")]
        for files in [inputs, starts] {
            try Cost.finish([try Cost.start(["lame", "--quiet", "-V2", files["wav"] ?? "", files["mp3"] ?? ""])])
        }
        return try works(workshop).flatMap { work in
            try figures(work, workshop, inputs[work.input] ?? "", starts[work.input] ?? "")
        }
    }

    private static func figures(
        _ work: Work, _ workshop: Workshop, _ input: String, _ start: String
    ) throws -> [Report] {
        func cost(_ arguments: (String) -> [String]) throws -> Cost {
            try Cost(running: arguments(input)) - Cost(running: arguments(start))
        }
        let output = workshop.path("out")
        let names = work.peers(input, output).filter { $0.isLike || workshop.isLong }
        var pairs: [String: [(ours: Cost, theirs: Cost)]] = [:]
        for _ in 0..<(workshop.seconds > 600 ? 1 : 3) {
            let ours = try cost { work.ours($0, output) }
            for (index, peer) in work.peers(input, output).enumerated() where peer.isLike || workshop.isLong {
                pairs[peer.name, default: []].append((ours, try cost { work.peers($0, output)[index].arguments }))
            }
        }
        return names.map { peer in
            let pairs = pairs[peer.name] ?? []
            let (ours, theirs) = (Cost(median: pairs.map(\.ours)), Cost(median: pairs.map(\.theirs)))
            let ratios = pairs.map { $0.theirs.processor / max(1e-3, $0.ours.processor) }
            return Report(
                "\(work.name), \(workshop.seconds) s of stereo: ours \(ours.words), \(peer.name) \(theirs.words), by the wall "
                    + "\(decimal(theirs.wall / max(1e-3, ours.wall), 2)) times as fast, by the processor's time",
                PairedTimes.median(ratios), least: ratios.max(), "times as fast", peer.isLike ? .atLeast(0.95) : nil,
                against: peer.name)
        }
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
                name: "WAV to FLAC, level 5",
                ours: { workshop.convert($0, $1 + ".flac", "--compression", "5") },
                peers: { input, output in
                    [
                        Peer(name: "sox (libFLAC too)", arguments: sox(input, ["-C", "5", output + ".flac"])),
                        Peer(
                            name: "flac (libFLAC's own program)",
                            arguments: ["flac", "-s", "-f", "-5", "-o", output + ".flac", input], isLike: false),
                        Peer(
                            name: "ffmpeg (an encoder of its own, larger files)",
                            arguments: ffmpeg(input, output + ".flac", "-c:a", "flac"), isLike: false),
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
                            arguments: ffmpeg(input, output + ".mp3", "-c:a", "libmp3lame", "-q:a", "2")),
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
                name: "MP3 to WAV of 16 bits", input: "mp3",
                ours: { workshop.convert($0, $1 + ".wav", "--bits", "16") },
                peers: { input, output in
                    [
                        Peer(
                            name: "ffmpeg (a decoder of its own; ours is libmpg123)",
                            arguments: ffmpeg(input, output + ".wav", "-c:a", "pcm_s16le")),
                        Peer(
                            name: "lame --decode", arguments: ["lame", "--quiet", "--decode", input, output + ".wav"]),
                    ]
                }),
            Work(
                name: "44.1 to 48 kHz, WAV to WAV of 16 bits",
                ours: { workshop.convert($0, $1 + ".wav", "--rate", "48000") },
                peers: { input, output in
                    let wav = ["-b", "16", output + ".wav"]
                    return [
                        Peer(name: "sox rate -h", arguments: sox(input, wav, "rate", "-h", "48000")),
                        Peer(name: "sox rate -m", arguments: sox(input, wav, "rate", "-m", "48000")),
                        Peer(
                            name: "ffmpeg by soxr, precision 20",
                            arguments: ffmpeg(
                                input, output + ".wav", "-af", "aresample=48000:resampler=soxr:precision=20", "-c:a",
                                "pcm_s16le")),
                        Peer(
                            name: "ffmpeg as it comes (see rate: a shorter filter that lets images through)",
                            arguments: ffmpeg(input, output + ".wav", "-ar", "48000", "-c:a", "pcm_s16le"),
                            isLike: false),
                    ]
                }),
        ]
    }
}
