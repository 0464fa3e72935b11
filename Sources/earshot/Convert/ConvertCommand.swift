// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation

struct ConvertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert", abstract: "Turn sound files into another kind, rate or loudness.",
        discussion: """
            Kinds: \(FileKinds.names.joined(separator: ", ")). Tags and pictures go along. Folders are gone
            through and keep their shape; several files are converted at once, as many as there are cores. A file that is there
            stays, unless --overwrite is given, and nothing half written ever has its name. - is standard input or output.

            earshot convert song.wav --to mp3
            earshot convert Recordings --to m4a --bitrate 160 --normalize=-16 --output Phone
            """)

    @Argument(help: ArgumentHelp("Sound files, folders, or -.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(
        help: ArgumentHelp("The kind to make. Default: what --output's ending says.", valueName: "kind"),
        completion: .list(FileKinds.names))
    var to: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file to write, the folder for several, or -. Default: beside each input.", valueName: "path"),
        completion: .file())
    var output: String?

    @OptionGroup(title: "Sound") var sound: ConversionOptions

    @Option(help: ArgumentHelp("Files to convert at once. Default: one a core.", valueName: "count"))
    var jobs: Int?

    @Flag(help: "Replace files that are there.")
    var overwrite = false

    @Flag(help: "Print a report as JSON, an array with an object for each file.")
    var json = false

    func validate() throws {
        if let jobs, !(1...256).contains(jobs) { throw ValidationError("--jobs takes 1 to 256") }
        try FileKinds.check(to)
        if output == StandardStream.name, json {
            throw ValidationError("--output - gives the sound itself, so there is no place for --json")
        }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            // Before standard input is read to its end.
            if output == StandardStream.name {
                try StandardStream.checkOutput("earshot convert FILE --to mp3 --output - > FILE.mp3")
            }
            let kind = to.flatMap { FileKinds.all[$0.lowercased()] }
            let plan = try ConversionPlan(
                try FileSources(files), kind: kind, output: output, overwrite: overwrite)
            let batch = ConversionBatch(
                plan.items.map { item in
                    var conversion = SoundFileConversion(from: item.source.path, to: item.output)
                    conversion.type = item.type
                    sound.apply(to: &conversion)
                    return conversion
                }, keepsBits: sound.encoding.bits == nil)
            var progress = ConversionProgress(count: plan.items.count)
            batch.start(jobs: jobs ?? ProcessInfo.processInfo.activeProcessorCount)
            while !batch.wait(seconds: 0.1) { progress.show(batch.done) }
            progress.clear()
            try report(plan, batch.results)
        }
    }

    private func report(_ plan: ConversionPlan, _ results: [ConversionBatch.Outcome]) throws {
        var reports: [ConversionReport] = []
        var failure: Failure?
        for (item, outcome) in zip(plan.items, results) {
            switch outcome.result {
            case .success(let result):
                let report = ConversionReport(item, result, seconds: outcome.seconds)
                if let warning = report.warning { Terminal.warn("earshot: \(warning)") }
                if output == StandardStream.name {
                    try StandardStream.give(item.output)
                } else if json {
                    reports.append(report)
                } else {
                    try Terminal.output(report.text)
                }
            case .failure(.cancelled): break
            case .failure(let error):
                let one = Failure(error)
                Terminal.say("earshot: \(item.named(one.line))")
                failure = failure ?? one
            }
        }
        if json { try Terminal.output(reports.json()) }
        if Interrupt.isRequested { throw ExitCodes.interrupted }
        if let failure { throw ExitCode(failure.status) }
    }
}
