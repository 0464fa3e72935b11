// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotLiveCall
import Foundation

extension RecordingConsent: ExpressibleByArgument {}

/// The options for recording a call, and for recordings by other participants.
struct RecordingOptions: ParsableArguments {
    /// The folder to record to from the beginning: empty for the default folder, nil to record nothing.
    @Option(
        defaultAsFlag: "", parsing: .next,
        help: ArgumentHelp(
            "Record from the start: a file per participant, and the mix. Without a folder: Music/Earshot/DATE ROOM.",
            valueName: "folder"),
        completion: .directory)
    var record: String?

    @Option(
        help: ArgumentHelp("Format of recorded files: wav, flac, mp3 … The manual lists all.", valueName: "kind"),
        completion: .list(FileKinds.names))
    var recordFormat = "wav"

    @Option(
        help: ArgumentHelp(
            "Start a new part of each file after this time: Ann-001.wav, Ann-002.wav … No frame is lost.",
            valueName: "time"),
        transform: TimeArgument.part)
    var recordSplit: Double?

    @Flag(help: "Also record your microphone before voice processing.")
    var recordRaw = false

    @Option(
        help: ArgumentHelp(
            "Allow others to record your voice: ask, yes or no. [default: ask on a terminal, otherwise no]",
            valueName: "answer"))
    var allowRecording: RecordingConsent?

    func validate() throws { try FileKinds.check(recordFormat) }

    /// Throws if the folder may be meant as the room, as in `earshot join --record Studio`.
    func rejectAmbiguousFolder(room: String?) throws {
        guard room == nil, let record, !record.isEmpty, !record.contains("/"), ![".", ".."].contains(record) else {
            return
        }
        throw ValidationError(
            "Is '\(record)' the room or the folder? Put the room before --record, or write ./\(record) for the folder.")
    }

    /// The absolute path of the folder to record to; nil for the default folder.
    var folder: String? {
        record.flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0).path }
    }

    /// - Parameter canAsk: false if the user has no terminal to answer on; others may then record only with `yes`.
    func apply(to configuration: inout LiveCall.Configuration, canAsk: Bool) {
        let consent = allowRecording ?? .ask
        configuration.recordingConsent = consent == .ask && !canAsk ? .no : consent
        if let type = FileKinds.all[recordFormat.lowercased()] { configuration.recording.type = type }
        configuration.recording.partDuration = recordSplit
        configuration.recording.program = CallReport.version
        configuration.recording.recordsRawVoice = recordRaw
    }
}
