// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall
import EarshotMediaTransport
import EarshotRooms

/// The introduction of a room: how others join, and who is admitted.
enum RoomIntroduction {
    /// Returns the arguments that others type behind `earshot join`: an address, then the join code; none if this machine is in no
    /// network.
    /// - Parameter address: the one that is listened on, where it is one.
    static func waysIn(_ call: LiveCall, at address: IPAddress? = nil) -> [String] {
        if let code = call.snapshot.joinCodes.first {
            return [HostCommand.shown(SocketAddress(code.address, port: call.port)), code.description]
        }
        return address.map { [HostCommand.shown(SocketAddress($0, port: call.port))] } ?? []
    }

    /// At the opening of a room.
    /// - Parameter command: the one that others come in with.
    static func lines(
        of room: PeerName, _ call: LiveCall, own name: PeerName, hasPIN: Bool,
        at address: IPAddress? = nil, command: String
    ) -> [String] {
        var lines = ["room '\(room)', open for guests\(hasPIN ? " (with the PIN)" : ""):"]
        let ways = waysIn(call, at: address)
        lines += ways.map { "    earshot \(command) \($0)" }
        if ways.isEmpty {
            let here = HostCommand.shown(SocketAddress(.loopback, port: call.port))
            lines.append("    earshot \(command) \(here), on this machine")
            lines.append("this machine has no address in a network: connect it, others can join then")
        }
        lines.append("you are '\(name)'; your key: \(call.fingerprint)")
        lines.append(admission(call.snapshot.admission, hasPIN: hasPIN))
        return lines
    }

    /// Returns who is admitted, and how others would be.
    static func admission(_ policy: AdmissionPolicy, hasPIN: Bool = false) -> String {
        switch policy {
        case .all: "everybody is let in\(hasPIN ? " who has the PIN" : "")"
        case .known:
            "only those are let in whom you let in when you were asked, or whose room you entered (see: earshot peers); for "
                + "others open a room with --accept ask or all"
        case .ask: "you are asked about each guest"
        }
    }
}
