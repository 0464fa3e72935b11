// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall
import EarshotMediaTransport
import EarshotRooms

/// The introduction of a room: how others join, and who is admitted.
enum RoomIntroduction {
    /// Returns the arguments of `earshot join` with which others can join: an address, and the join code. If there is no join
    /// code, returns only `address`, if that is given.
    /// - Parameter address: the single address to listen on; nil for all.
    static func joinInstructions(_ call: LiveCall, at address: IPAddress? = nil) -> [String] {
        if let code = call.snapshot.joinCodes.first {
            return [HostCommand.shown(SocketAddress(code.address, port: call.port)), code.description]
        }
        return address.map { [HostCommand.shown(SocketAddress($0, port: call.port))] } ?? []
    }

    /// Returns the lines that are printed when a host has opened a room.
    /// - Parameter command: the command with which others join.
    static func lines(
        of room: PeerName, _ call: LiveCall, own name: PeerName, hasPIN: Bool,
        at address: IPAddress? = nil, command: String
    ) -> [String] {
        var lines = ["Room: '\(room)'\(hasPIN ? " (with a PIN)" : "")"]
        let ways = joinInstructions(call, at: address)
        let labels = ["Address: ", "Join code (also verifies your key): "]
        lines += zip(labels, ways).map { "\($0)earshot \(command) \($1)" }
        if ways.isEmpty {
            let here = HostCommand.shown(SocketAddress(.loopback, port: call.port))
            lines.append("Address, on this machine only (no network): earshot \(command) \(here)")
        }
        lines.append("Your name: \(name)")
        lines.append("Your key: \(call.fingerprint)")
        lines.append(admission(call.snapshot.admission, hasPIN: hasPIN))
        return lines
    }

    /// Returns the text about who is admitted.
    static func admission(_ policy: AdmissionPolicy, hasPIN: Bool = false) -> String {
        let rule = admissionRule(policy, hasPIN: hasPIN)
        guard policy == .known else { return rule }
        // Without a terminal nobody can be asked.
        return "\(rule). To admit others: --accept \(Terminal.isInteractive ? "ask" : "all")"
    }

    /// Returns the text about who is admitted, without advice.
    static func admissionRule(_ policy: AdmissionPolicy, hasPIN: Bool = false) -> String {
        switch policy {
        case .all: "Admission: all guests\(hasPIN ? " with the PIN" : ""), except blocked ones and changed keys"
        case .known: "Admission: known guests only"
        case .ask: "Admission: you confirm each guest"
        }
    }
}
