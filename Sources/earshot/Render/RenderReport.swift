// SPDX-License-Identifier: Apache-2.0

import EarshotAudioEngine
import EarshotAudioFiles
import Foundation

/// The report of `render --json`. The manual page documents its fields, which must not change.
struct RenderReport: Codable {
    struct Input: Codable {
        var node: String
        var file: String
        var rate: Double
        var channels: Int
        /// The length of the input file in seconds.
        var seconds: Double
        /// The second of the output at which the input begins.
        var startSeconds: Double
        var loops: Bool
        /// True if the input's sample rate differs from the output file's.
        var isConverted: Bool
    }
    struct Path: Codable {
        /// The nodes from source to output.
        var nodes: [String]
        var latencyMs: Double
    }
    /// The numbers of samples, blocks and frames that were replaced by silence.
    struct Faults: Codable {
        /// The number of input samples that were NaN or infinite.
        var inputSamples: Int
        /// The number of blocks in which a unit's output was NaN or infinite.
        var blocks: Int
        /// The number of samples at the graph's output that were NaN or infinite.
        var samples: Int
        /// The number of frames that players skipped because the disk was too slow.
        var lateFrames: Int
    }

    var earshot = CallReport.version
    var graph: String
    var output: String
    /// The number of frames of the output file, at ``rate``.
    var frames: Int
    var seconds: Double
    /// The output file's sample rate in hertz. It may differ from the graph's, since MP3 supports only some rates.
    var rate: Double
    var channels: Int
    /// The seconds of the output after the end of the last input.
    var tailSeconds: Double
    /// True if the output was cut off before its tail had decayed to silence.
    var isTailCut: Bool
    var inputs: [Input]
    var elapsedSeconds: Double
    var timesRealTime: Double
    /// The peak in dBFS; nil for silence.
    var peakDb: Double?
    /// The integrated loudness in LUFS; nil if nothing passed the gates.
    var loudnessLufs: Double?
    /// The samples above full scale.
    var clippedSamples: Int
    /// The signal paths, at most ``AudioEngine/pathLimit``, the path with the longest latency first.
    var paths: [Path]
    var faults: Faults

    /// - Parameter fileRate: the file's rate in hertz.
    init(
        _ result: OfflineRender.Result, _ graph: GraphBuilder, file: GraphFile, output: String, rate fileRate: Double
    ) {
        let rate = graph.format.sampleRate
        self.graph = file.path
        self.output = output
        frames = RateConverter.frameCount(result.frameCount, from: rate, to: fileRate)
        seconds = Double(result.frameCount) / rate
        self.rate = fileRate
        channels = graph.format.channelCount
        tailSeconds = Double(max(0, result.frameCount - result.inputFrameCount)) / rate
        isTailCut = result.isTailCut
        inputs = graph.sources.map {
            Input(
                node: $0.node, file: $0.path, rate: $0.format.sampleRate, channels: $0.format.channelCount,
                seconds: $0.seconds, startSeconds: $0.start, loops: $0.end == nil,
                isConverted: $0.format.sampleRate != fileRate)
        }
        elapsedSeconds = result.elapsed
        timesRealTime = result.elapsed > 0 ? seconds / result.elapsed : 0
        peakDb = result.peak.isFinite ? result.peak : nil
        loudnessLufs = result.loudness.isFinite ? result.loudness : nil
        clippedSamples = result.clippedSamples
        paths = graph.engine.paths.map { Path(nodes: $0.nodes, latencyMs: $0.latency * 1e3) }
        faults = Faults(
            inputSamples: graph.sources.reduce(0) { $0 + $1.player.faultCount },
            blocks: graph.units.reduce(0) { $0 + $1.faultCount }, samples: graph.engine.outputNode.faultCount,
            lateFrames: graph.sources.reduce(0) { $0 + $1.player.lostFrameCount })
    }

    /// The maximum number of paths that ``text`` lists.
    private static let maximumPathsInText = 20

    /// The report as text.
    var text: String {
        func kilohertz(_ rate: Double) -> String { "\(ParameterFormatting.number(Float(rate / 1e3))) kHz" }
        func line(_ head: String, _ text: String) -> String {
            head + String(repeating: " ", count: max(1, 10 - head.count)) + text
        }
        func plural(_ count: Int, _ word: String) -> String { "\(count) \(word)\(count == 1 ? "" : "s")" }
        var lines = inputs.map { input in
            line(
                "input",
                "\(input.node): \(input.file), \(kilohertz(input.rate)), \(plural(input.channels, "channel")), "
                    + String(format: "%.2f s", input.seconds)
                    + (input.startSeconds > 0 ? String(format: ", from %.2f s on", input.startSeconds) : "")
                    + (input.loops ? ", looped" : "") + (input.isConverted ? ", converted to \(kilohertz(rate))" : ""))
        }
        let tail =
            tailSeconds > 0 ? String(format: ", including %.2f s after the end of the inputs", tailSeconds) : ""
        lines.append(
            line(
                "output",
                "\(output): \(plural(frames, "frame")), " + String(format: "%.2f s", seconds)
                    + ", \(kilohertz(rate)), \(plural(channels, "channel"))\(tail)"))
        lines.append(
            line("speed", String(format: "%.1f times real time, rendered in %.2f s", timesRealTime, elapsedSeconds)))
        lines.append(
            line(
                "level",
                (peakDb.map { String(format: "peak %.1f dBFS", $0) } ?? "silence")
                    + (loudnessLufs.map { String(format: ", %.1f LUFS", $0) } ?? "")
                    + (clippedSamples > 0 ? ", \(plural(clippedSamples, "sample")) beyond full scale" : "")))
        for path in paths.prefix(Self.maximumPathsInText) {
            lines.append(
                line("latency", String(format: "%.2f ms, ", path.latencyMs) + path.nodes.joined(separator: " → ")))
        }
        if paths.count > Self.maximumPathsInText {
            lines.append(line("", "and other paths, none longer than the first; --json lists more"))
        }
        let faultCounts = [
            (faults.inputSamples, "invalid input sample"),
            (faults.blocks, "silenced block"), (faults.samples, "invalid output sample"),
            (faults.lateFrames, "late frame"),
        ].filter { $0.0 > 0 }
        if !faultCounts.isEmpty {
            lines.append(line("faults", faultCounts.map { plural($0.0, $0.1) }.joined(separator: ", ")))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns one warning if parameter changes are due after the end of the output, else an empty array.
    static func lateWarning(_ result: OfflineRender.Result, file: GraphFile) -> [String] {
        guard let first = result.firstLateChange else { return [] }
        let others = result.lateChanges > 1 ? " and \(result.lateChanges - 1) more are" : " is"
        return [
            "\(file.path):\(first.place.line):\(first.place.column): this change\(others) after the end and will not be heard. Use --tail SECONDS or an earlier time."
        ]
    }

    /// The warnings about a cut tail, clipped samples and a silent output.
    var warnings: [String] {
        var warnings: [String] = []
        if isTailCut {
            warnings.append(
                "The sound was cut off \(Int(OfflineRender.longestTail)) s after the inputs, before it had decayed. Set its length with --tail SECONDS."
            )
        }
        if clippedSamples > 0 {
            warnings.append(
                "\(clippedSamples) samples exceed full scale and will clip. End the graph with a limiter or lower its level."
            )
        }
        if peakDb == nil { warnings.append("The output is silent. Check the inputs, and draw the graph with --dot.") }
        return warnings
    }
}
