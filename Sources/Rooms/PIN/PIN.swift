// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// A room's PIN: 4 to 32 characters. Its description hides it.
public struct PIN: Hashable, Sendable, CustomStringConvertible {
    /// The allowed number of characters.
    public static let lengths = 4...32

    let text: String

    /// Trims and checks a PIN.
    public init(_ text: String) throws(TextError) {
        let checked = try BoundedText.checked(text, .pin, limit: 128)
        guard checked.count >= Self.lengths.lowerBound else {
            throw TextError(.pin, .tooShort(count: checked.count, least: Self.lengths.lowerBound))
        }
        guard checked.count <= Self.lengths.upperBound else {
            throw TextError(.pin, .tooLong(size: checked.utf8.count, limit: Self.lengths.upperBound))
        }
        self.text = checked
    }

    /// Four dots, whatever the PIN's length.
    public var description: String { "••••" }
}

/// A PIN's key for one room and one host's key, which makes and verifies proofs.
///
/// K = PBKDF2-HMAC-SHA256(PIN, "earshot pin" ‖ room ‖ host's key fingerprint, 200,000 rounds). The guest's proof is
/// HMAC-SHA256(K, "guest" ‖ nonce ‖ its key fingerprint), the host's the same with "host". So a proof is useless to another
/// guest, for another room, or to a host with another key, and a host that does not know the PIN cannot make its own.
package struct PINKey: Hashable, Sendable {
    /// The size of a nonce in bytes.
    package static let nonceSize = 16
    /// The rounds of PBKDF2.
    package static let rounds = 200_000

    /// The side that gives a proof.
    enum Side: String {
        case guest, host
    }

    /// The room of the PIN.
    package let room: RoomID
    private let key: [UInt8]

    /// Derives the key from a PIN. The derivation takes about 50 ms: do not call this on a thread that serves requests.
    /// - Parameter host: the host's key fingerprint, verified in the TLS handshake, or the local one.
    package init(_ pin: PIN, room: RoomID, host: KeyFingerprint) {
        self.init(pin, room: room, host: host, rounds: Self.rounds)
    }

    init(_ pin: PIN, room: RoomID, host: KeyFingerprint, rounds: Int) {
        self.room = room
        key = Digest.pbkdf2(pin.text, salt: Array("earshot pin".utf8) + room.bytes + host.bytes, rounds: rounds)
    }

    /// - Parameter guest: the guest's key fingerprint; for a browser, which has none, 16 to 32 random bytes.
    func proof(by side: Side, nonce: [UInt8], guest: [UInt8]) -> [UInt8] {
        Digest.hmacSHA256(Array(side.rawValue.utf8) + nonce + guest, key: key)
    }
}
