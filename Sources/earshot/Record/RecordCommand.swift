// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioBase

struct RecordCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Record the microphone to one or more files.",
        discussion: """
            Formats, by extension: \(FileKinds.names.joined(separator: ", ")). Records until Ctrl-C, q or --duration. p or the space bar pauses and resumes; without a terminal SIGUSR1 does. Each file stays readable at every moment. If one file fails, the others go on.
            """)

    static let examples = [
        CommandExample("Record one file", "earshot record take.wav"),
        CommandExample(
            "Record two formats at once", "earshot record take.flac take.mp3 --bitrate V0 --title 'First take'"),
        CommandExample(
            "Stream to another machine", "earshot record - --to mp3 --bitrate 64 | ssh studio 'cat > take.mp3'"),
    ]

    @Argument(help: ArgumentHelp("Files to write, or - for standard output.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(
        help: ArgumentHelp("Format of - and of files without an extension.", valueName: "kind"),
        completion: .list(FileKinds.names))
    var to: String?

    @OptionGroup(title: "Encoding")
    var encoding: EncodingOptions

    @Option(help: ArgumentHelp("Channels, 1 to 32. [default: the microphone's, 2 at most]", valueName: "count"))
    var channels: Int?

    @Option(
        help: ArgumentHelp("Stop after recording this long, pauses excluded: 30s, 2m, 1h.", valueName: "time"),
        transform: TimeArgument.above0)
    var duration: Double?

    @Option(
        help: ArgumentHelp(
            "Start a new file after this long, without a gap: take-001.wav, take-002.wav …", valueName: "time"),
        transform: TimeArgument.part
    )
    var split: Double?

    @Flag(help: "Append to existing WAV, AIFF, CAF or FLAC files; with --split, continue the numbering.")
    var append = false

    @Flag(help: "Overwrite existing files.")
    var overwrite = false

    @Flag(help: "Start paused; p, space or SIGUSR1 starts recording.")
    var standby = false

    @Option(
        help: ArgumentHelp(
            "With --standby, also record this long before the start, up to 10m.", valueName: "time"),
        transform: TimeArgument.from0)
    var preRoll: Double?

    @Option(
        defaultAsFlag: -50,
        help: ArgumentHelp(
            "Skip audio below this level in all channels, in dBFS.",
            valueName: "dB"))
    var trimSilence: Double?

    @Option(
        help: ArgumentHelp(
            "Silence to keep on each side of a sound. [default: 0.25s]", valueName: "time"),
        transform: TimeArgument.from0)
    var keepSilence = 0.25

    @OptionGroup(title: "Tags")
    var tags: TagOptions

    @OptionGroup(title: "Audio device")
    var system: SystemOptions

    @OptionGroup(title: "Audio device")
    var microphone: MicrophoneOptions

    @OptionGroup(title: "Simulated device")
    var simulated: SimulatedOptions

    @Flag(name: .lettered("json"), help: "Print a JSON report on standard output at the end.")
    var json = false

    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws {
        try FileKinds.check(to)
        try simulated.check(system.device)
        guard !files.isEmpty else {
            throw ValidationError("name a file to record to, such as take.wav, or - for standard output")
        }
        if let channels, !AudioFormat.channelCounts.contains(channels) {
            throw ValidationError("--channels must be 1 to 32")
        }
        if channels != nil, let map = microphone.microphoneChannels, map.channels.count != channels {
            throw ValidationError("--microphone-channels names \(map.channels.count) channels; omit --channels")
        }
        if append, overwrite { throw ValidationError("--append and --overwrite exclude each other") }
        if let preRoll {
            guard (0...600).contains(preRoll) else { throw ValidationError("--pre-roll must be 0 to 10m") }
            if !standby { throw ValidationError("--pre-roll needs --standby") }
        }
        if let trimSilence, !(-120...0).contains(trimSilence) {
            throw ValidationError("--trim-silence must be -120 to 0 (dBFS)")
        }
        guard (0...60).contains(keepSilence) else { throw ValidationError("--keep-silence must be 0 to 1m") }
        guard files.contains(StandardStream.name) else { return }
        if json { throw ValidationError("The recording goes to standard output. Omit --json.") }
        if split != nil { throw ValidationError("- is one stream; --split needs files") }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            Interrupt.watchPauses()
            try RecordRunner(self).run()
        }
    }
}
