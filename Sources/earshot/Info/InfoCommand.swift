// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioContainers
import EarshotAudioFiles

struct InfoCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Show an audio file's format, duration, sample rate and tags.",
        discussion: """
            Nothing is decoded. Only MP3 and AAC streams without a stated length, and fragmented M4A, are read to their end.
            """)

    static let examples = [
        CommandExample("Show a file", "earshot info song.flac"),
        CommandExample("Read the length in a script", "earshot info --json song.flac"),
    ]

    @Argument(
        help: ArgumentHelp("Audio files, folders, or - for standard input.", valueName: "file"), completion: .file())
    var files: [String]

    @Flag(name: .lettered("json"), help: "Print a JSON array with one object per file.")
    var json = false

    @OptionGroup(title: "General") var general: GeneralOptions

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            var reports: [InfoReport] = []
            var failure: Failure?
            for source in try FileSources(files).all {
                if Interrupt.isRequested { throw ExitCodes.interrupted }
                do {
                    let report = InfoReport(try SoundFiles.info(source.path), name: source.name)
                    if json { reports.append(report) } else { try Terminal.output(report.text) }
                } catch let exit as ExitCode {
                    throw exit
                } catch {
                    let one = Failure(error)
                    Terminal.error(source.spool == nil ? one.line : one.line.replacing(source.path, with: "-"))
                    failure = failure ?? one
                }
            }
            if json { try Terminal.output(reports.json()) }
            if let failure { throw ExitCode(failure.status) }
        }
    }
}
