// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation

struct ConvertCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert", abstract: "Convert audio files: format, sample rate, channels, loudness.",
        discussion: """
            Formats: \(FileKinds.names.joined(separator: ", ")). Tags and pictures are copied. Folders keep their structure. Several files are converted at once. A damaged file is converted as far as it can be read; the exit status is then 74. Existing files are kept unless --overwrite is given. A folder for several files is created; the folder of a single file must exist.
            """)

    static let examples = [
        CommandExample("Convert one file", "earshot convert song.wav song.mp3"),
        CommandExample(
            "Convert a folder for a phone, at equal loudness",
            "earshot convert Recordings --to m4a --bitrate 160 --normalize -16 --output Phone"),
    ]

    @Argument(
        help: ArgumentHelp(
            "Audio files, folders, or - for standard input. IN OUT converts one file.", valueName: "file"),
        completion: .file())
    var files: [String]

    @Option(
        help: ArgumentHelp("Output format. [default: the output's extension]", valueName: "kind"),
        completion: .list(FileKinds.names))
    var to: String?

    @Option(
        name: .lettered("output"),
        help: ArgumentHelp(
            "Output file, folder for several, or - for standard output. [default: beside each input]", valueName: "path"
        ),
        completion: .file())
    var output: String?

    @OptionGroup(title: "Encoding") var sound: ConversionOptions

    @Option(help: ArgumentHelp("Files to convert at once. [default: one per core]", valueName: "count"))
    var jobs: Int?

    @Flag(help: "Overwrite existing files.")
    var overwrite = false

    @Flag(name: .lettered("json"), help: "Print a JSON array with one object per file.")
    var json = false

    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws {
        if let jobs, !(1...256).contains(jobs) { throw ValidationError("--jobs must be 1 to 256") }
        try FileKinds.check(to)
        if output == StandardStream.name, json {
            throw ValidationError("With '--output -', the audio goes to standard output. Omit --json.")
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
            let (inputs, output) = inputsAndOutput
            let plan = try ConversionPlan(try FileSources(inputs), kind: kind, output: output, overwrite: overwrite)
            for refusal in plan.refusals { Terminal.error(refusal.line) }
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

    /// The inputs and the output of `IN OUT`: without --to and --output, the second of two names is the output if its extension
    /// is a format's.
    private var inputsAndOutput: (inputs: [String], output: String?) {
        guard output == nil, to == nil, files.count == 2, AudioFileType(fileName: files[1]) != nil else {
            return (files, output)
        }
        return ([files[0]], files[1])
    }

    private func report(_ plan: ConversionPlan, _ results: [ConversionBatch.Outcome]) throws {
        var reports: [ConversionReport] = []
        var failure = plan.refusals.first
        for (item, outcome) in zip(plan.items, results) {
            switch outcome.result {
            case .success(let result):
                let report = ConversionReport(item, result, seconds: outcome.seconds)
                if let warning = report.warning { Terminal.warn(warning) }
                if let lowerRate = report.lowerRate { Terminal.warn(lowerRate) }
                report.warnings.forEach { Terminal.warn($0) }
                if let line = report.damageError {
                    Terminal.error(line)
                    failure = failure ?? Failure(line, status: Failure.incomplete)
                }
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
                Terminal.error(item.named(one.line))
                failure = failure ?? one
            }
        }
        if json { try Terminal.output(reports.json()) }
        if Interrupt.isRequested { throw ExitCodes.interrupted }
        if let failure { throw ExitCode(failure.status) }
    }
}
