// SPDX-License-Identifier: Apache-2.0

import EarshotRooms
import Foundation

/// The default names of the user and the room.
enum DefaultName {
    /// `Ann on studio`: the names of the user and the machine.
    static var standard: PeerName { make(user: user, machine: machine) }

    /// Returns the default name of a room: `Ann's room`.
    static func room(of owner: String?) -> PeerName { make(user: owner ?? user, suffix: "'s room") }

    static func make(user: String, machine: String) -> PeerName {
        make(user: user, suffix: machine.isEmpty ? "" : " on \(machine)", otherwise: machine)
    }

    /// Returns the user's name and the suffix. The user's name is shortened if the text is too long. If the text is not a valid
    /// name, the first valid one of `user`, `otherwise` and `somebody` is returned.
    private static func make(user: String, suffix: String, otherwise: String = "") -> PeerName {
        var (user, text) = (user, user + suffix)
        while text.precomposedStringWithCanonicalMapping.utf8.count > PeerName.maximumSize, !user.isEmpty {
            user.removeLast()
            text = user + suffix
        }
        for candidate in [text, user, otherwise, "somebody"] {
            if let name = try? PeerName(candidate) { return name }
        }
        preconditionFailure("the last candidate is a valid name")
    }

    /// The full name of the user's account; the login name if the account has no full name.
    private static var user: String {
        guard let entry = getpwuid(getuid()) else { return "somebody" }
        let full = String(cString: entry.pointee.pw_gecos).split(separator: ",", omittingEmptySubsequences: false).first
        let name = full?.trimmingCharacters(in: .whitespaces) ?? ""
        return name.isEmpty ? String(cString: entry.pointee.pw_name) : name
    }

    private static var machine: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.split(separator: ".").first.map(String.init) ?? ""
    }
}
