// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotCall
import EarshotLiveCall
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms
import Foundation

struct HostCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "host", abstract: "Open a room and host a call.",
        discussion: """
            Guests find the room by its name, by this machine's address or by the join code that is shown. Everything is encrypted. Guests you admit are remembered by key. One port is used, TCP for signalling and UDP for audio. If the host leaves, a guest becomes the host and the room goes on.
            """)

    static let examples = [
        CommandExample("Open a room and confirm each guest", "earshot host 'Blue Room'"),
        CommandExample("Sing with known guests over JACK", "earshot host --accept known --device jack --dial sing"),
        CommandExample(
            "Record the call as FLAC files to the folder Take1",
            "earshot host 'Blue Room' --record Take1 --record-format flac"),
    ]

    @Argument(help: "The room's name, up to 63 bytes. [default: NAME's room]")
    var room: String?

    @OptionGroup var options: HostOptions

    @OptionGroup(title: "General") var general: GeneralOptions

    var call: CallOptions { options.call }

    func validate() throws {
        if let room { try RoomOptions.check { try PeerName(room) } }
        try call.recording.rejectAmbiguousFolder(room: room)
    }

    func run() throws { try options.run(room: room) }

    /// Returns a room's name as an unambiguous shell argument of `join` and `chat`.
    static func argument(for room: PeerName) -> String {
        let option = (try? JoinTarget(room.text)) == .name(room) ? "" : "--by name "
        return option + (room.text.hasPrefix("-") ? "-- " : "") + quoted(room.text)
    }

    /// Returns the text as one shell argument, quoted if necessary.
    static func quoted(_ text: String) -> String {
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
        return isPlain && !text.hasPrefix("-") ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }

    /// Returns the address in the form that `join` reads, without the port if that is ``JoinCode/usualPort``.
    static func shown(_ address: SocketAddress) -> String {
        address.port == JoinCode.usualPort ? address.address.description : address.description
    }
}

extension NearbySession {
    /// Opens a session and its ports, while the calling thread waits.
    static func opened(_ configuration: Configuration) throws -> NearbySession {
        try waiting { try await NearbySession(configuration) }
    }
}
