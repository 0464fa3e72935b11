// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotCall
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms
import Foundation

struct JoinCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "join", abstract: "Join a room by name, address or join code.",
        discussion: """
            Without a room, the rooms on this network are listed and a number joins one. If you become the host later, this program listens on --port.
            """)

    static let examples = [
        CommandExample("Choose from the rooms on this network", "earshot join"),
        CommandExample("Join by address and keep the report", "earshot join 192.168.1.20 --json > call.json"),
    ]

    @Argument(
        help:
            "Name, address, address:port, [IPv6]:port, host, host:port or join code of a room. [default: choose from a list]"
    )
    var room: String?

    @Flag(help: "List the rooms on this network and exit.")
    var list = false

    @OptionGroup var entrance: JoinOptions

    @OptionGroup var own: RoomOptions

    @Option(
        help: ArgumentHelp(
            "Port for signalling (TCP) and audio (UDP). [default: 47400, or a free one]",
            valueName: "port"),
        transform: PortArgument.number)
    var port: UInt16?

    @Option(help: ArgumentHelp("Address of this machine to listen on. [default: all]", valueName: "address"))
    var address: String?

    @OptionGroup var call: CallOptions

    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws {
        if let room { try RoomOptions.check { try JoinTarget(room, as: entrance.by) } }
        if let address, IPAddress(address) == nil {
            throw ValidationError("--address must be an IP address of this machine")
        }
        try call.recording.rejectAmbiguousFolder(room: room)
        if list, room != nil { throw ValidationError("--list lists all rooms on this network. Omit the room.") }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            if list { return try showList() }
            try call.checkFolders()
            let keys = Terminal.isInteractive ? KeyboardInput() : nil
            let guest = try GuestCall(
                entrance, to: room, as: own, port: port, address: address.flatMap { IPAddress($0) }, call, keys: keys)
            if keys != nil { Terminal.say(RoomKeyBindings.hint(isHost: false)) }
            let input = RoomInput(guest.presenter.call, keys: keys)
            try RoomRunner(call, isHost: false, presenter: guest.presenter, input: input, card: guest.card).run()
        }
    }

    private func showList() throws {
        let listing = RoomListing(rooms: try RoomSearch.list(within: entrance.timeout ?? 3))
        if call.json { return try Terminal.output(listing.document()) }
        guard !listing.rooms.isEmpty else {
            return Terminal.say(
                "Found no room within \(Int((entrance.timeout ?? 3).rounded(.up))) s. Open one: earshot host")
        }
        try Terminal.output(listing.table(hasColour: Terminal.outputHasColour))
    }
}

extension CallOptions {
    /// Returns a new call session on a sound card, without remote participants.
    func makeCall(_ card: SoundCard) throws -> CallSession {
        // The CNAME (RFC 7022) is random, so that it identifies the local peer in one call only.
        let name = String(UInt64.random(in: .min ... .max), radix: 36)
        return CallSession(
            preferences(
                deviceRate: card.device.sampleRate,
                deviceBlock: (card.input?.device ?? card.device).blockFrameCount),
            device: card.device, microphone: card.input?.device, cname: name,
            voice: voice.makeVoice(card))
    }
}
