// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms
import Foundation

/// The options of a guest, and the run of its call, shared by `join` and `duet join`.
struct GuestOptions: ParsableArguments {
    @OptionGroup var entrance: JoinOptions

    @OptionGroup var own: RoomOptions

    @OptionGroup var listening: GuestPortOption

    @Option(help: ArgumentHelp("Address of this machine to listen on. [default: all]", valueName: "address"))
    var address: String?

    @OptionGroup var call: CallOptions

    func validate() throws {
        if let address, IPAddress(address) == nil {
            throw ValidationError("--address must be an IP address of this machine")
        }
    }

    init() {}

    /// Copies the options that hosts and guests share.
    init(_ host: HostOptions) throws {
        self = try GuestOptions.parse([])
        (own, call, address) = (host.own, host.call, host.address)
        // The default port may be taken.
        listening.port = host.port == JoinCode.usualPort ? nil : host.port
    }

    /// Throws if the text names no room.
    func check(_ room: String?) throws {
        if let room { try RoomOptions.check { try JoinTarget(room, as: entrance.by) } }
        try call.recording.rejectAmbiguousFolder(room: room)
    }

    /// Joins the room and runs the call to its end.
    /// - Parameters:
    ///   - room: the room's name, address or code; nil to let the user choose from a list.
    ///   - chosen: the room if the user has chosen it already.
    func run(room: String?, chosen: RoomSearch.Found? = nil) throws {
        try Failure.reporting {
            Interrupt.watch()
            try call.checkFolders()
            let keys = Terminal.isInteractive ? KeyboardInput() : nil
            let guest = try GuestCall(
                entrance, to: room, chosen: chosen, as: own, port: listening.port,
                address: address.flatMap { IPAddress($0) },
                call, keys: keys)
            if keys != nil { Terminal.say(RoomKeyBindings.hint(isHost: false, records: !guest.options.isDuet)) }
            let input = RoomInput(guest.presenter.call, keys: keys)
            try RoomRunner(guest.options, isHost: false, presenter: guest.presenter, input: input, card: guest.card)
                .run()
        }
    }
}

/// The port of a guest, shared by `join`, `duet join` and `forecast`.
struct GuestPortOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Port for signalling (TCP) and audio (UDP). [default: 47400, or a free one]",
            valueName: "port"),
        transform: PortArgument.number)
    var port: UInt16?
}
