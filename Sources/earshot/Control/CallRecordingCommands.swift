// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotLiveCall
import Foundation

struct RecordCall: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Record the call.",
        discussion: "The format and the other options of recordings are those with which the call was started.")

    static let examples = [
        CommandExample("Record to a new folder in Music/Earshot", "earshot call record"),
        CommandExample("Record to a folder of your own", "earshot call record ~/Takes/1"),
    ]

    @Argument(
        help: "Folder for a file per participant and the mix. [default: Music/Earshot/DATE ROOM]",
        completion: .directory)
    var folder: String?

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    /// The seconds in which a recording begins.
    private static let timeout = 10.0

    /// A relative folder is one of this terminal, not of the call's.
    func command(_ status: StatusDocument) -> LiveCallCommand {
        .startRecording(folder: folder.map { URL(fileURLWithPath: $0).path })
    }

    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) throws -> String {
        guard status.sound.state == "running" else { return RecordingSentences.awaited }
        let event = try client.event(within: Self.timeout) { name, _ in
            [.recordingStarted, .recordingFailed].contains(name)
        }
        guard let event else { throw CallSocketError.noAnswer }
        if let error = event.error {
            let advice = error.code == "folder" ? RecordingSentences.otherFolder : nil
            throw Failure(ErrorText.join(error.text, advice), status: Failure.cannotCreate)
        }
        let started = RecordingSentences.started(
            event.recording?.folder ?? "", seenBy: status.participants.map(\.name), hasKeys: false)
        return ErrorText.join(started, "End it: earshot call stop-recording")
    }
}

struct StopRecordingCall: CallControlCommand {
    static let configuration = CommandConfiguration(commandName: "stop-recording", abstract: "End the recording.")

    static let examples = [CommandExample("End the recording, and print its folder", "earshot call stop-recording")]

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    /// The seconds in which the files of a recording are completed.
    private static let timeout = 30.0

    func command(_ status: StatusDocument) -> LiveCallCommand { .stopRecording }

    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) throws -> String {
        guard status.recording != nil else { return RecordingSentences.cancelled }
        let event = try client.event(within: Self.timeout) { name, _ in name == .recordingEnded }
        guard let event else { return "The recording's files are not complete yet. See: earshot call watch" }
        return EventSentences.text(event)
    }
}

struct AllowRecordingInCall: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow-recording", abstract: "Let the others record your voice, or not.")

    static let examples = [CommandExample("Let the others record your voice", "earshot call allow-recording yes")]

    enum Answer: String, ExpressibleByArgument, CaseIterable {
        case yes, no
    }

    @Argument(help: "yes or no.")
    var answer: Answer

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) -> LiveCallCommand { .allowRecording(answer == .yes) }

    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) -> String {
        SettingSentences.recordingConsent(answer == .yes)
    }
}
