// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioFiles
import EarshotLiveCall
import Foundation

struct AccompanyCall: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "accompany", abstract: "Play audio files with the call, for yourself or for all.",
        discussion: """
            Without arguments, shows the accompaniment. FILE … loads audio files, M3U and PLS playlists, or folders. Then: play, pause, next, previous, stop; seek 1:30, +5s or -5s; volume 50% or -6dB; for me, for all. A file with one of these names is given as ./play.
            """)

    static let examples = [
        CommandExample("Load a song", "earshot call accompany song.flac"),
        CommandExample("Play it", "earshot call accompany play"),
        CommandExample("Let all hear it", "earshot call accompany for all"),
        CommandExample("Go back ten seconds", "earshot call accompany seek -10s"),
        CommandExample("End the accompaniment", "earshot call accompany stop"),
    ]

    @Argument(
        help: ArgumentHelp("Files, or one of the words above.", valueName: "file"), completion: .file())
    var words: [String] = []

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    /// The seconds in which a change is reported.
    private static let timeout = 5.0

    func validate() throws { _ = try AccompanimentRequest(words) }

    func run() throws {
        guard case .show = try AccompanimentRequest(words) else { return try control() }
        try Failure.reporting {
            let song = try call.connect().status().accompaniment
            try Terminal.output(AccompanimentSentences.status(song) + "\n")
        }
    }

    func command(_ status: StatusDocument) throws -> LiveCallCommand {
        switch try AccompanimentRequest(words) {
        case .show: throw ValidationError("nothing to change")
        case .load(let files):
            for file in files where PathText.status(file) == nil {
                throw Failure("\(file): \(String(cString: strerror(errno)))", status: Failure.noInput)
            }
            return .setAccompaniment(files: files.map { URL(fileURLWithPath: $0).path })
        case .stop: return .setAccompaniment(files: [])
        case .control(let control): return .controlAccompaniment(control)
        case .seek(let change):
            return .controlAccompaniment(.seek(to: max(0, (status.accompaniment?.seconds ?? 0) + change)))
        }
    }

    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) throws -> String {
        var failures: [String] = []
        let event = try client.event(within: Self.timeout) { name, event in
            if name == .accompanimentFailed { failures.append(event.error?.text ?? "") }
            return name == .accompaniment
        }
        for failure in failures { Terminal.warn(failure) }
        guard let event else { return "Nothing changed. See: earshot call" }
        guard case .load = try AccompanimentRequest(words) else {
            return AccompanimentSentences.changed(event.accompaniment)
        }
        guard let song = event.accompaniment else {
            throw Failure("None of the files can be played.", status: Failure.data)
        }
        return AccompanimentSentences.loaded(song)
    }
}

/// The arguments of `earshot call accompany`.
enum AccompanimentRequest: Equatable {
    /// Shows the accompaniment.
    case show
    case load([String])
    case stop
    case control(AccompanimentControl)
    /// Seeks by a number of seconds, backwards if negative.
    case seek(by: Double)

    init(_ words: [String]) throws {
        guard let first = words.first else {
            self = .show
            return
        }
        let value = words.count == 2 ? words[1] : nil
        switch (first, value) {
        case ("play", nil) where words.count == 1: self = .control(.play)
        case ("pause", nil) where words.count == 1: self = .control(.pause)
        case ("next", nil) where words.count == 1: self = .control(.next)
        case ("previous", nil) where words.count == 1: self = .control(.previous)
        case ("stop", nil) where words.count == 1: self = .stop
        case ("for", "me"?): self = .control(.setForAll(false))
        case ("for", "all"?): self = .control(.setForAll(true))
        case ("volume", let value?): self = .control(.setGain(try VolumeArgument.gain(value)))
        case ("seek", let value?): self = try Self.position(value)
        case ("for", _): throw ValidationError("use: for me, or for all")
        case ("volume", _): throw ValidationError("use: volume 50%, or volume -6dB")
        case ("seek", _): throw ValidationError("use: seek 1:30, seek +5s or seek -5s")
        default: self = .load(words)
        }
    }

    private static func position(_ text: String) throws -> AccompanimentRequest {
        let plain = text.replacing("\u{2212}", with: "-")
        if let sign = plain.first, "+-".contains(sign), let seconds = time(String(plain.dropFirst())) {
            return .seek(by: sign == "-" ? -seconds : seconds)
        }
        guard let seconds = time(plain) else {
            throw ValidationError("use: seek 1:30, seek +5s or seek -5s")
        }
        return .control(.seek(to: seconds))
    }

    /// Returns the seconds of a time such as `1:30`, `90`, or `1m30s`; nil for other text.
    private static func time(_ text: String) -> Double? {
        guard text.contains(":") else { return TimeArgument.seconds(text).flatMap { $0 >= 0 ? $0 : nil } }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Double($0) ?? .nan }
        guard (2...3).contains(parts.count), parts.allSatisfy({ $0 >= 0 && $0 < 1e6 }) else { return nil }
        return parts.reduce(0) { $0 * 60 + $1 }
    }
}
