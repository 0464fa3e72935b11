// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotLiveCall
import EarshotRooms

struct AdmitGuest: CallControlCommand {
    static let configuration = CommandConfiguration(commandName: "admit", abstract: "Admit a guest who asks to join.")

    @Argument(help: "The guest's name or number. Needed if several ask.")
    var guest: String?

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) throws -> LiveCallCommand {
        .admit(JoinRequestID(number: try ListedPerson.guest(guest, status).id))
    }

    func confirmation(_ status: StatusDocument) throws -> String {
        let name = try ListedPerson.guest(guest, status).name
        return "Admitted \(name)."
    }
}

struct DeclineGuest: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "decline", abstract: "Decline a guest who asks to join.")

    @Argument(help: "The guest's name or number. Needed if several ask.")
    var guest: String?

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) throws -> LiveCallCommand {
        .decline(JoinRequestID(number: try ListedPerson.guest(guest, status).id))
    }

    func confirmation(_ status: StatusDocument) throws -> String {
        let name = try ListedPerson.guest(guest, status).name
        return "Declined \(name)."
    }
}

struct SayInCall: CallControlCommand {
    static let configuration = CommandConfiguration(commandName: "say", abstract: "Send a message to all participants.")

    @Argument(help: "The message.")
    var text: [String]

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) -> LiveCallCommand { .say(text.joined(separator: " ")) }

    func confirmation(_ status: StatusDocument) -> String {
        "Sent to \(RecordingSentences.list(status.participants.map(\.name)))."
    }
}

struct LeaveCall: CallControlCommand {
    static let configuration = CommandConfiguration(commandName: "leave", abstract: "Leave the room and end the call.")

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) -> LiveCallCommand { .leave }
    func confirmation(_ status: StatusDocument) -> String { "Left the call." }
}
