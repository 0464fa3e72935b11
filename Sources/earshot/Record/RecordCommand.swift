// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioBase

struct RecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Record the microphone into files, of several kinds at once.",
        discussion: """
            Kinds, by the files' endings: \(FileKinds.names.joined(separator: ", ")). It records until Ctrl-C, q, or for --seconds.
            On a terminal p or the space bar pauses and goes on; elsewhere SIGUSR1 does. Whatever happens, what was recorded is
            there: a file that fails, as on a full disk, ends by itself, the others go on, and a microphone that was pulled out
            is recorded again when it is back, with silence between. - is standard output.

            earshot record take.wav
            earshot record take.flac take.mp3 --bitrate V0 --title "First take"
            earshot record - --to mp3 --bitrate 64 | ssh studio 'cat > take.mp3'
            """)

    @Argument(help: ArgumentHelp("Files to write, or -.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(
        help: ArgumentHelp("The kind of - and of files whose names say none.", valueName: "kind"),
        completion: .list(FileKinds.names))
    var to: String?

    @OptionGroup(title: "Sound")
    var encoding: EncodingOptions

    @Option(help: ArgumentHelp("Channels, 1 to 32. Default: the microphone's, 2 at most.", valueName: "count"))
    var channels: Int?

    @Option(
        name: [.customLong("seconds"), .customLong("duration")],
        help: ArgumentHelp("End when so many seconds are recorded; pauses do not count.", valueName: "seconds"))
    var seconds: Double?

    @Option(
        help: ArgumentHelp(
            "Begin a new file after so many seconds, without a gap: take-001.wav, take-002.wav …", valueName: "seconds")
    )
    var split: Double?

    @Flag(help: "Go on with WAV, AIFF, CAF and FLAC files that are there; with --split, behind the last number.")
    var append = false

    @Flag(help: "Replace files that are there.")
    var overwrite = false

    @Flag(help: "Wait for the first p, space or SIGUSR1.")
    var standby = false

    @Option(
        help: ArgumentHelp(
            "With --standby: the seconds before are recorded too, up to 600; kept in memory.", valueName: "seconds"))
    var preRoll: Double?

    @Option(
        defaultAsFlag: -50,
        help: ArgumentHelp(
            "Leave silence out: what is below so many dBFS in all channels, such as --trim-silence=-40.",
            valueName: "dB"))
    var trimSilence: Double?

    @Option(help: ArgumentHelp("Silence that stays on each side of a sound.", valueName: "seconds"))
    var keepSilence = 0.25

    @OptionGroup(title: "Tags")
    var tags: TagOptions

    @OptionGroup(title: "Sound card")
    var system: SystemOptions

    @OptionGroup(title: "Sound card")
    var microphone: MicrophoneOptions

    @OptionGroup(title: "Sound card")
    var simulated: SimulatedOptions

    @Flag(help: "Print one JSON report on standard output at the end.")
    var json = false

    func validate() throws {
        try FileKinds.check(to)
        try simulated.check(system.device)
        guard !files.isEmpty else { throw ValidationError("name a file to record into, such as take.wav, or -") }
        if let channels, !AudioFormat.channelCounts.contains(channels) {
            throw ValidationError("--channels takes 1 to 32")
        }
        if channels != nil, let map = microphone.inputMap, map.channels.count != channels {
            throw ValidationError("--input-map names \(map.channels.count) channels; leave --channels out")
        }
        if let seconds, !(seconds > 0 && seconds <= 86_400 * 365) {
            throw ValidationError("--seconds takes a number of seconds above 0")
        }
        if let split, !(split >= 0.1 && split <= 86_400 * 365) {
            throw ValidationError("--split takes a number of seconds from 0.1 on")
        }
        if append, overwrite { throw ValidationError("--append and --overwrite exclude each other") }
        if let preRoll {
            guard (0...600).contains(preRoll) else { throw ValidationError("--pre-roll takes 0 to 600 (seconds)") }
            if !standby { throw ValidationError("--pre-roll belongs to --standby") }
        }
        if let trimSilence, !(-120...0).contains(trimSilence) {
            throw ValidationError("--trim-silence takes -120 to 0 (dBFS)")
        }
        guard (0...60).contains(keepSilence) else { throw ValidationError("--keep-silence takes 0 to 60 (seconds)") }
        guard files.contains(StandardStream.name) else { return }
        if json { throw ValidationError("- gives the sound itself, so there is no place for --json") }
        if split != nil { throw ValidationError("- is one stream, so there is nothing to --split") }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            Interrupt.watchPauses()
            try RecordRunner(self).run()
        }
    }
}
