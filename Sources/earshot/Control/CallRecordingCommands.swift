// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotLiveCall
import Foundation

struct RecordCall: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Record the call.",
        discussion: "The format and the other options of recordings are those with which the call was started.")

    @Argument(
        help: "Folder for a file per participant and the mix. [default: Music/Earshot/DATE ROOM]",
        completion: .directory)
    var folder: String?

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    /// The seconds in which a recording begins.
    private static let timeout = 10.0

    /// The command. A relative folder is one of this terminal, not of the call's.
    var command: LiveCallCommand { .startRecording(folder: folder.map { URL(fileURLWithPath: $0).path }) }

    func run() throws {
        try Failure.reporting {
            let client = try call.connect()
            try client.watch()
            try client.perform(command)
            let status = try client.status()
            guard status.sound.state == "running" else { return Terminal.say(RecordingSentences.awaited) }
            guard let event = try client.event([.recordingStarted, .recordingFailed], within: Self.timeout) else {
                throw CallSocketError.noAnswer
            }
            if let error = event.error {
                throw Failure(
                    ErrorText.join(error.text, "Use another folder: earshot call record FOLDER"),
                    status: Failure.cannotCreate)
            }
            Terminal.say("Recording to \(event.recording?.folder ?? ""). End it: earshot call stop-recording")
        }
    }
}

struct StopRecordingCall: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "stop-recording", abstract: "End the recording.")

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    /// The seconds in which the files of a recording are completed.
    private static let timeout = 30.0

    var command: LiveCallCommand { .stopRecording }

    func run() throws {
        try Failure.reporting {
            let client = try call.connect()
            let status = try client.status()
            try client.watch(after: status.lastEvent)
            try client.perform(command)
            if status.recording == nil, status.sound.state != "running" {
                return Terminal.say(RecordingSentences.cancelled)
            }
            guard let recording = try client.event([.recordingEnded], within: Self.timeout)?.recording else {
                throw CallSocketError.noAnswer
            }
            Terminal.say(
                RecordingSentences.ended(
                    recording.folder, seconds: recording.seconds ?? 0, gapSeconds: recording.gapSeconds ?? 0))
        }
    }
}

struct AllowRecordingInCall: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow-recording", abstract: "Let the others record your voice, or not.")

    enum Answer: String, ExpressibleByArgument, CaseIterable {
        case yes, no
    }

    @Argument(help: "yes or no.")
    var answer: Answer

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) -> LiveCallCommand { .allowRecording(answer == .yes) }

    func confirmation(_ status: StatusDocument) -> String {
        answer == .yes ? "Others may record your voice." : "Others may not record your voice."
    }
}
