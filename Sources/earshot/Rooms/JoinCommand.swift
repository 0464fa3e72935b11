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

    @OptionGroup var options: GuestOptions

    @OptionGroup(title: "General") var general: GeneralOptions

    var call: CallOptions { options.call }

    func validate() throws {
        try options.check(room)
        if list, room != nil { throw ValidationError("--list lists all rooms on this network. Omit the room.") }
    }

    func run() throws {
        guard list else { return try options.run(room: room) }
        try Failure.reporting {
            Interrupt.watch()
            try showList()
        }
    }

    private func showList() throws {
        let listing = RoomListing(rooms: try RoomSearch.list(within: options.entrance.timeout ?? 3))
        if call.json { return try Terminal.output(listing.document()) }
        guard !listing.rooms.isEmpty else {
            return Terminal.say(
                "Found no room within \(Int((options.entrance.timeout ?? 3).rounded(.up))) s. Open one: earshot host")
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
