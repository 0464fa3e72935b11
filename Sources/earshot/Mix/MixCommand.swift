// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioContainers
import EarshotAudioFiles
import EarshotLiveCall
import Foundation

struct MixCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "mix", abstract: "Mix the voices of a recorded call.",
        discussion: """
            FOLDER is a recording made with --record: one file per voice, and recording.json. A duet's song is mixed without effects. Its name is 'song'. A take whose program was killed is finished first. The mix is normalized to -14 LUFS, with peaks below -1 dBTP (-2 before lossy encoding). Presets: \(presets). The recording itself is never changed. Missing and damaged voices are silent in the mix, and reported.
            """)

    private static var presets: String {
        MixPreset.all.map { "\($0.name) (\($0.summary.dropLast().lowercased()))" }.joined(separator: ", ")
    }

    static let examples = [
        CommandExample("Mix a recording", "earshot mix 'Blue Room'"),
        CommandExample(
            "Choose the sound, lower one voice and move another",
            "earshot mix 'Blue Room' --preset stage --balance Ann=-3 --nudge Ben=-12 --output song.flac"),
        CommandExample(
            "Write the voices for a DAW", "earshot mix 'Blue Room' --stems Stems --session reaper"),
        CommandExample(
            "Lower the song of a duet, and see how the voices line up",
            "earshot mix 'Ann & Ben' --balance song=-3 --picture duet.png"),
    ]

    @Argument(
        help: ArgumentHelp("The recording's folder, or that of a duet's takes: the last one.", valueName: "folder"),
        completion: .directory)
    var folder: String

    @Option(
        help: ArgumentHelp(
            "Sound of the mix: \(MixPreset.all.map(\.name).joined(separator: ", ")). [default: \(MixPreset.standard.name)]",
            valueName: "name"),
        completion: .list(MixPreset.all.map(\.name)))
    var preset: String?

    @Option(
        name: .lettered("output"),
        help: ArgumentHelp("Output file. [default: mix-PRESET.m4a in the folder]", valueName: "file"),
        completion: .file(extensions: FileKinds.names))
    var output: String?

    @Option(
        help: ArgumentHelp("Output format. [default: the output's extension, or m4a]", valueName: "kind"),
        completion: .list(FileKinds.names))
    var to: String?

    @Option(
        help: ArgumentHelp("Gain of a voice, -60 to 24 dB, such as Ann=-3. Can be repeated.", valueName: "name=dB"))
    var balance: [String] = []

    @Option(
        help: ArgumentHelp(
            "Place of a voice, -1 (left) to 1 (right). Can be repeated. [default: the preset's]", valueName: "name=pan")
    )
    var pan: [String] = []

    @Option(
        help: ArgumentHelp(
            "Move a voice later, or earlier if negative: -10000 to 10000 ms. Can be repeated.", valueName: "name=ms"))
    var nudge: [String] = []

    @Flag(help: "Keep the plain sum: no loudness normalization and no limiter.")
    var noNormalize = false

    @OptionGroup(title: "Encoding") var encoding: EncodingOptions

    @Option(
        help: ArgumentHelp(
            "Also write each voice as a WAV file of equal length to this folder.", valueName: "folder"),
        completion: .directory)
    var stems: String?

    @Option(
        help: ArgumentHelp("Add a session of the stems for a DAW: reaper, dawproject.", valueName: "kind"),
        completion: .list(MixStems.Session.allCases.map(\.rawValue)))
    var session: String?

    @Option(
        help: ArgumentHelp("PNG file for a picture of all voices on one time axis.", valueName: "file"),
        completion: .file(extensions: ["png"]))
    var picture: String?

    @Flag(name: .lettered("json"), help: "Print a JSON report.")
    var json = false

    @OptionGroup var existing: OverwriteOptions

    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws {
        if let preset, MixPreset.named(preset) == nil {
            let names = MixPreset.all.map(\.name)
            throw ValidationError(
                "--preset must be \(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")")
        }
        try FileKinds.check(to)
        if output == StandardStream.name { throw ValidationError("Name a file: a mix cannot go to standard output.") }
        if to == nil, let output { try SoundFileOutput.check(output, option: "--output") }
        if let session {
            guard MixStems.Session(rawValue: session) != nil else {
                throw ValidationError("--session must be reaper or dawproject")
            }
            if stems == nil { throw ValidationError("--session needs --stems FOLDER") }
        }
        if let picture, !picture.lowercased().hasSuffix(".png") {
            throw ValidationError("--picture must end in .png")
        }
        for argument in balance { _ = try VoiceArgument(argument, option: "--balance", unit: "dB", in: -60...24) }
        for argument in pan { _ = try VoiceArgument(argument, option: "--pan", unit: "", in: -1...1) }
        for argument in nudge { _ = try VoiceArgument(argument, option: "--nudge", unit: "ms", in: -10_000...10_000) }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            let folder = TakeFolders.latest(in: self.folder) ?? self.folder
            if folder != self.folder { Terminal.say("Mixing \(PathText.fileName(folder)), the last one.") }
            try finishTake(folder)
            let source = try MixSource(folder: folder)
            let settings = try settings(for: source)
            let (path, type) = file(settings, in: folder)
            try source.checkOutput(path)
            try existing.check(path)
            let session = session.flatMap(MixStems.Session.init)
            let stems = try stems.map { try MixStems(source, settings, folder: $0, session: session) }
            if let stems, !existing.overwrite, let path = stems.paths.first(where: ExistingFile.isFile) {
                throw ExistingFile.failure(path)
            }
            let destination = AtomicFileReplacement.destination(of: path)
            if stems?.paths.contains(where: { AtomicFileReplacement.destination(of: $0) == destination }) == true {
                throw Failure("\(path) is also a stem. Use another --output.", status: Failure.usage)
            }
            if let picture {
                try source.checkOutput(picture)
                try existing.check(picture)
                try OutputPath.check(picture)
            }
            let clock = ContinuousClock()
            let start = clock.now
            var progress = ProgressLine()
            /// Returns false if the user has interrupted the command.
            func show(_ part: Double, _ label: String) -> Bool {
                progress.show { _ in String(format: "%@ %.0f %%", label, 100 * part) }
                return !Interrupt.isRequested
            }
            let mix = MixFile(source, settings, encoding: encoding.settings(orAs: .int24))
            let result: MixFile.Result
            do {
                result = try mix.write(to: path, type: type) { show($0, "mixing") }
                try stems?.write { show($0, "stems") }
                if let picture {
                    let mixPicture = MixPicture(source: source, settings: settings)
                    guard try mixPicture.write(to: picture, progress: { show($0, "drawing") }) else {
                        throw MixError.cancelled
                    }
                }
            } catch {
                progress.clear()
                if Interrupt.isRequested { throw ExitCodes.interrupted }
                throw error
            }
            progress.clear()
            let report = MixReport(
                source, settings, result, output: path, stems: stems?.paths ?? [], picture: picture,
                elapsed: (clock.now - start) / .seconds(1))
            for warning in report.warnings { Terminal.warn(warning) }
            try Terminal.output(json ? report.json() : report.text)
        }
    }

    /// Renders the local voice of a duet's take whose program was killed.
    private func finishTake(_ folder: String) throws {
        let take = TakeFolders(folder: folder)
        guard take.isUnfinished else { return }
        do {
            let finished = try take.finish(program: CallReport.version)
            Terminal.say(DuetSentences.finished(finished))
            for fault in finished.stem.faults { Terminal.warn(ErrorText.text(fault)) }
        } catch {
            // The voices of others may be there.
            guard (try? MixSource(folder: folder)) != nil else { throw error }
            Terminal.warn("The own voice is missing. \(ErrorText.text(error))")
        }
    }

    private func settings(for source: MixSource) throws -> MixSettings {
        var settings = MixSettings(for: source)
        settings.preset = preset.flatMap { MixPreset.named($0) } ?? MixPreset.standard
        if noNormalize { settings.loudness = nil }
        func each(
            _ arguments: [String], _ option: String, _ unit: String, _ set: (inout MixSettings.Voice, Double) -> Void
        ) throws {
            for argument in arguments {
                let argument = try VoiceArgument(argument, option: option, unit: unit, in: -1e9...1e9)
                for index in try source.voices(named: argument.name) { set(&settings.voices[index], argument.value) }
            }
        }
        try each(balance, "--balance", "dB") { $0.balance = Float($1) }
        try each(pan, "--pan", "") { $0.pan = Float($1) }
        try each(nudge, "--nudge", "ms") { $0.nudge = $1 }
        return settings
    }

    private func file(_ settings: MixSettings, in folder: String) -> (path: String, type: AudioFileType) {
        let wanted = to.flatMap { FileKinds.all[$0.lowercased()] }
        if let output { return (output, wanted ?? AudioFileType(fileName: output) ?? .rf64) }
        let type = wanted ?? .m4a
        return ("\(folder)/mix-\(settings.preset.name).\(FileKinds.ending(type))", type)
    }
}

/// A value for a voice on the command line: `Ann=-3`.
struct VoiceArgument {
    var name: String
    var value: Double

    init(_ text: String, option: String, unit: String, in range: ClosedRange<Double>) throws {
        let example = "\(option) Ann=\(unit.isEmpty ? "-0.5" : "-3")"
        guard let equals = text.lastIndex(of: "="), equals > text.startIndex else {
            throw ValidationError("\(option) needs a voice and a value: \(example)")
        }
        name = String(text[..<equals])
        var number = text[text.index(after: equals)...].replacing("\u{2212}", with: "-").lowercased()
        if !unit.isEmpty, number.hasSuffix(unit.lowercased()) { number.removeLast(unit.count) }
        guard let value = Double(number.trimmingCharacters(in: .whitespaces)), range.contains(value) else {
            let words =
                String(format: "%g to %g", range.lowerBound, range.upperBound) + (unit.isEmpty ? "" : " \(unit)")
            throw ValidationError("\(option) must be \(words), such as \(example); got '\(text)'")
        }
        self.value = value
    }
}
