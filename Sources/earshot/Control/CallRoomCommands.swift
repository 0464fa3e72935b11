// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotLiveCall
import EarshotRooms

struct AdmitGuest: CallControlCommand {
    static let configuration = CommandConfiguration(commandName: "admit", abstract: "Admit a guest who asks to join.")

    static let examples = [
        CommandExample("Admit the only guest who asks", "earshot call admit"),
        CommandExample("Admit one of several guests", "earshot call admit Bob"),
    ]

    @Argument(help: "The guest's name or number. Needed if several ask.")
    var guest: String?

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) throws -> LiveCallCommand {
        .admit(JoinRequestID(number: try ListedPerson.guest(guest, status).id))
    }

    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) throws -> String {
        "Admitted \(try ListedPerson.guest(guest, status).name)."
    }
}

struct DeclineGuest: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "decline", abstract: "Decline a guest who asks to join.")

    static let examples = [
        CommandExample("Decline the only guest who asks", "earshot call decline"),
        CommandExample("Decline a guest, now and later", "earshot call decline Eve --block"),
    ]

    @Argument(help: "The guest's name or number. Needed if several ask.")
    var guest: String?

    @Flag(help: "Refuse the guest's later requests, too.")
    var block = false

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) throws -> LiveCallCommand {
        let id = JoinRequestID(number: try ListedPerson.guest(guest, status).id)
        return block ? .blockRequest(id) : .decline(id)
    }

    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) throws -> String {
        "\(block ? "Blocked" : "Declined") \(try ListedPerson.guest(guest, status).name)."
    }
}

struct SetCallAdmission: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "admission", abstract: "Set which guests are admitted while you are the host.")

    static let examples = [CommandExample("Admit known guests only", "earshot call admission known")]

    @Argument(help: "all, known, or ask for each.")
    var policy: AdmissionPolicy

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) -> LiveCallCommand { .setAdmission(policy) }

    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) -> String {
        RoomIntroduction.admissionRule(policy)
    }
}

struct RemoveFromCall: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a participant from the room, as its host.")

    static let examples = [
        CommandExample("Remove Bob, who may ask again", "earshot call remove Bob"),
        CommandExample("Remove Eve, and refuse later requests", "earshot call remove Eve --block"),
    ]

    @Argument(help: "A participant's name or number.")
    var person: String

    @Flag(help: "Refuse the participant's later requests, too.")
    var block = false

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) throws -> LiveCallCommand {
        let id = try ListedPerson.participant(person, status).id
        return block ? .block(id) : .remove(id)
    }

    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) throws -> String {
        "\(block ? "Blocked" : "Removed") \(try ListedPerson.participant(person, status).name)."
    }
}

struct LeaveCall: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave", abstract: "Leave the room and end the call.",
        discussion: "If you are the host, the longest participant takes over.")

    static let examples = [CommandExample("Leave the call", "earshot call leave")]

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) -> LiveCallCommand { .leave }
    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) -> String { "Left the call." }
}

struct EndCallRoom: CallControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "end", abstract: "End the room for everyone, as its host.")

    static let examples = [CommandExample("End the room for everyone", "earshot call end")]

    @OptionGroup var call: RunningCallOptions
    @OptionGroup(title: "General") var general: GeneralOptions

    func command(_ status: StatusDocument) -> LiveCallCommand { .endRoom }
    func confirmation(_ status: StatusDocument, _ client: CallSocketClient) -> String { "Ended the room." }
}
