// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioBase
import EarshotAudioContainers
import EarshotDiagnostics
import Foundation

struct AnalyzeCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "analyze", abstract: "Measure and plot a call from its two JSON reports.",
        discussion: """
            The reports are those of 'host --json' and 'join --json' with --device simulated, --speak and --hear. The delay is the lag of the correlation between what was said and what was heard.
            """)

    static let examples = [
        CommandExample("Measure a call", "earshot analyze host.json guest.json"),
        CommandExample("Plot it", "earshot analyze host.json guest.json --picture call.png"),
    ]

    @Argument(help: "The JSON reports of both participants.", completion: .file(extensions: ["json"]))
    var reports: [String]

    @Option(
        help: ArgumentHelp("PNG file to plot the call to.", valueName: "file"),
        completion: .file(extensions: ["png"]))
    var picture: String?

    @Flag(name: .lettered("json"), help: "Print JSON.")
    var json = false

    @OptionGroup var existing: OverwriteOptions

    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws {
        if let picture, !picture.lowercased().hasSuffix(".png") {
            throw ValidationError("--picture must end in .png")
        }
        guard reports.count == 2 else {
            throw ValidationError("analyze needs two reports, one from each end of the call")
        }
    }

    struct Result: Codable {
        var from: String
        var to: String
        var heard: String
        var delay: DelayMeasurement
    }

    func run() throws {
        try Failure.reporting {
            let ends = try reports.map(Self.read)
            guard ends[0].role != ends[1].role else {
                throw Failure(
                    "Both reports are from the \(ends[0].role). Use the reports of the host and the guest of one call.",
                    status: Failure.data)
            }
            var results: [Result] = []
            var directions: [CallPicture.Direction] = []
            for (from, to) in [(ends[0], ends[1]), (ends[1], ends[0])] {
                guard let spoken = from.spoken, let heard = to.heard else { continue }
                let sent = try TimedSignal(spoken)
                let received = try TimedSignal(heard)
                let delay = try DelayMeasurement(sent: sent, heard: received)
                results.append(Result(from: from.role, to: to.role, heard: heard.file, delay: delay))
                directions.append(
                    CallPicture.Direction(
                        title: "\(from.role) to \(to.role)", sentName: Self.name(spoken.file), sent: sent,
                        heardName: Self.name(heard.file), heard: received, delay: delay))
            }
            guard !results.isEmpty else {
                throw Failure(
                    "these reports name no files to compare: run the call with --device simulated --speak FILE --hear FILE",
                    status: Failure.data)
            }
            if let picture {
                let format = ends[0].peers.first.map { "\($0.codec), \($0.rate / 1000) kHz, " } ?? ""
                let title = "\(format)blocks of \(ends[0].device.block) frames"
                try existing.check(picture)
                let shared = SharedFile(picture)
                try Failure.creating { try CallPicture(title: title, directions: directions).write(to: picture) }
                shared.share()
            }
            try show(results, ends: ends)
        }
    }

    private func show(_ results: [Result], ends: [CallReport]) throws {
        if json {
            try Terminal.output(results.json())
            return
        }
        for result in results {
            let delay = result.delay
            print(
                Self.pad("\(result.from) to \(result.to)")
                    + String(
                        format: "%.1f ms mouth to ear (p95 %.1f, max %.1f; confidence %.2f)", delay.milliseconds,
                        delay.p95, delay.maximum, delay.confidence))
        }
        for end in ends { show(end) }
        if let picture { print(Self.pad("picture") + Self.absolute(picture)) }
    }

    private func show(_ end: CallReport) {
        let callback = end.callback
        for (index, peer) in end.peers.enumerated() {
            let name = end.peers.count > 1 ? ", \(TerminalText.sanitized(peer.name))" : ""
            print(
                Self.pad(index == 0 ? end.role : "")
                    + "\(peer.sent.packets) packets sent, \(peer.received.packets) received, \(peer.received.lost) lost, "
                    + String(format: "%.0f ms concealed", peer.received.concealedMs) + name)
        }
        print(
            Self.pad("")
                + String(
                    format: "audio callback p50 %.0f µs, p99 %.0f, max %.0f, of %.0f a block; ",
                    callback.p50Microseconds,
                    callback.p99Microseconds, callback.maxMicroseconds, Double(end.device.block) / end.device.rate * 1e6
                )
                + "\(callback.xruns) xruns")
        if let heard = end.heard { print(Self.pad("") + "heard: \(Self.absolute(heard.file))") }
    }

    private static func pad(_ word: String) -> String { word + String(repeating: " ", count: max(1, 16 - word.count)) }

    private static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).path }

    private static func read(_ path: String) throws -> CallReport {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure(
                "\(path): no such file, or not readable. Name a report that `earshot host --json` printed.",
                status: Failure.noInput)
        }
        do {
            return try JSONDecoder().decode(CallReport.self, from: data)
        } catch {
            throw Failure("\(path): not a call report. Name the output of `earshot host --json`.", status: Failure.data)
        }
    }

    private static func name(_ path: String) -> String { URL(fileURLWithPath: path).lastPathComponent }
}

extension TimedSignal {
    /// Reads the sound file of a simulated card, with the time at which the file's first frame was at the converter.
    init(_ tape: CallReport.Tape) throws {
        self = try TimedSignal(
            SoundFiles.open(tape.file), firstFrameTime: HostTime(nanoseconds: tape.firstFrameMonotonicNanoseconds))
    }
}
