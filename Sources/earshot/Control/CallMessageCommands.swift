// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotLiveCall
import EarshotRooms
import Foundation

struct SayInCall: CallControlCommand {
    static let configuration = CommandConfiguration(commandName: "say", abstract: "Send a message to all participants.")

    static let examples = [CommandExample("Send a message", "earshot call say 'back in a minute'")]

    @Argument(help: "The message.")
    var text: [String]

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) -> LiveCallCommand { .say(text.joined(separator: " ")) }

    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) -> String {
        "Sent to \(RecordingSentences.list(status.receivers))."
    }
}

struct SendInCall: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send a file to all participants.",
        discussion: "Participants receive files with --receive FOLDER. 'earshot call watch' prints the file's arrival.")

    static let examples = [CommandExample("Send a file", "earshot call send notes.txt")]

    @Argument(help: "The file.", completion: .file())
    var file: String

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    /// A relative path is one of this terminal, not of the call's.
    func command(_ status: StatusDocument) throws -> LiveCallCommand {
        try SendCommand.checkFile(file)
        return .sendFile(path: URL(fileURLWithPath: file).path)
    }

    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) -> String {
        "Sending \(file) to \(RecordingSentences.list(status.receivers)). See: earshot call watch"
    }
}

struct RenameInCall: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename", abstract: "Change your name in the room.",
        discussion: "If another participant has the name, the host adds a number.")

    static let examples = [CommandExample("Change your name", "earshot call rename 'Ann (alto)'")]

    @Argument(help: "Your new name.")
    var name: String

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    /// The seconds in which a host renames a participant.
    private static let timeout = 5.0

    func validate() throws { try RoomOptions.check { try PeerName(name) } }

    func command(_ status: StatusDocument) throws -> LiveCallCommand { .rename(try PeerName(name)) }

    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) throws -> String {
        let own = status.localParticipant
        if own?.name == name { return "You are already called \(name)." }
        let event = try client.event(within: Self.timeout) { kind, event in
            kind == .participantRenamed && event.participant?.id == own?.id
        }
        guard let newName = event?.participant?.name else { return "Asked the host to rename you. See: earshot call" }
        return "You are now called \(newName)."
    }
}

extension StatusDocument {
    /// The names of the participants who get messages and files. A browser, which has no key, gets none.
    fileprivate var receivers: [String] { participants.filter { $0.key != nil }.map(\.name) }
}
