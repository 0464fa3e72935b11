// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioContainers
import EarshotAudioFiles

struct InfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "What a sound file is: kind, length, rate, tags, pictures.",
        discussion: """
            Nothing is decoded. An MP3 or an AAC stream that does not say its length, and an M4A in fragments, are gone
            through to their ends; others take as little time when they are long. Folders are gone through; - is standard
            input.
            """)

    @Argument(help: ArgumentHelp("Sound files, folders, or -.", valueName: "file"), completion: .file())
    var files: [String]

    @Flag(help: "Print JSON, an array with an object for each file.")
    var json = false

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
                } catch {
                    let one = Failure(error)
                    Terminal.say(
                        "earshot: \(source.spool == nil ? one.line : one.line.replacing(source.path, with: "-"))")
                    failure = failure ?? one
                }
            }
            if json { try Terminal.output(reports.json()) }
            if let failure { throw ExitCode(failure.status) }
        }
    }
}
