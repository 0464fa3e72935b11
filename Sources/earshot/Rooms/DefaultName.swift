// SPDX-License-Identifier: Apache-2.0

import EarshotRooms
import Foundation

/// The default name of this machine's person.
enum DefaultName {
    /// `Ann on studio`: the user's and the machine's.
    static var standard: PeerName { make(user: user, machine: machine) }

    static func make(user: String, machine: String) -> PeerName {
        let tail = machine.isEmpty ? "" : " on \(machine)"
        var (user, text) = (user, user + tail)
        while text.precomposedStringWithCanonicalMapping.utf8.count > PeerName.maximumSize, !user.isEmpty {
            user.removeLast()
            text = user + tail
        }
        for candidate in [text, user, machine, "somebody"] {
            if let name = try? PeerName(candidate) { return name }
        }
        preconditionFailure("the last is one")
    }

    /// The full name of the account, or its short one.
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
