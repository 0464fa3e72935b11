// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotCall
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms
import Foundation

struct JoinCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join", abstract: "Enter a room near you, and talk with those who are in.",
        discussion: """
            Without ROOM the rooms near are shown as they come and go, and a number enters one. What ROOM is, its form tells:
            a number with dots or colons is an address, a join code has its length and check character, a machine's name has
            a dot or a port; all else is a room's name. --by says it where that is wrong.
            """)

    @Argument(
        help:
            "A room's NAME, ADDRESS, ADDRESS:PORT, [IPv6]:PORT, HOST, HOST:PORT, or a join code. Default: shows which there are."
    )
    var room: String?

    @Flag(help: "List the rooms near, and end.")
    var list = false

    @OptionGroup var entrance: JoinOptions

    @OptionGroup var own: RoomOptions

    @Option(
        help: ArgumentHelp(
            "The port for signalling (TCP) and sound (UDP); another where it is taken. Default: 47400.",
            valueName: "port"))
    var port: UInt16?

    @OptionGroup var call: CallOptions

    func validate() throws {
        if let room { try RoomOptions.check { try JoinTarget(room, as: entrance.by) } }
        if list, room != nil { throw ValidationError("--list takes no room; it lists all that are near") }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            if list { return try showList() }
            try CallOptions.checkFolder(call.receive)
            let keys = Terminal.isInteractive ? Keys() : nil
            let guest = try GuestCall(entrance, to: room, as: own, port: port, call, keys: keys)
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
                "no room was seen within \(Int((entrance.timeout ?? 3).rounded(.up))) s; open one with: earshot host")
        }
        try Terminal.output(listing.table(hasColour: Terminal.outputHasColour))
    }
}

extension CallOptions {
    /// The call on a card, before there is anybody to talk with.
    func makeCall(_ card: SoundCard) throws -> CallSession {
        // RFC 7022: it names this end of this call, and nothing else.
        let name = String(UInt64.random(in: .min ... .max), radix: 36)
        return CallSession(
            preferences(
                deviceRate: card.device.sampleRate,
                deviceBlock: (card.input?.device ?? card.device).blockFrameCount),
            device: card.device, microphone: card.input?.device, cname: name,
            voice: try voice.makeVoice(card, channelCount: channels))
    }
}
