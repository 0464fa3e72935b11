// SPDX-License-Identifier: Apache-2.0

/// A command as JSON: its name, and arguments that are not checked yet. A field that the command does not have is nil.
package struct CommandDocument: Codable, Equatable, Sendable {
    /// A numeric address and a port.
    package struct Address: Codable, Equatable, Sendable {
        package var address: String
        package var port: UInt16

        package init(address: String, port: UInt16) {
            self.address = address
            self.port = port
        }
    }

    /// The name of a `LiveCallCommand.Kind`; or `status` or `watch` on a socket.
    package var command: String
    /// The version of the protocol that the sender uses; nil if it does not say so.
    package var protocolVersion: Int?
    /// The number of the last known event.
    package var after: UInt64?
    /// The number of a participant.
    package var participant: UInt64?
    /// The number of a join request.
    package var request: UInt64?
    package var name: String?
    package var pin: String?
    package var capacity: Int?
    package var isAnnounced: Bool?
    package var addresses: [Address]?
    package var joinCode: String?
    /// The fingerprint of a key, 64 hexadecimal digits.
    package var key: String?
    package var purpose: String?
    package var admission: String?
    package var isMuted: Bool?
    /// The gain, a factor.
    package var volume: Float?
    package var dial: String?
    /// The mode of voice processing.
    package var mode: String?
    package var folder: String?
    package var isAllowed: Bool?
    package var text: String?
    package var path: String?

    private enum CodingKeys: String, CodingKey {
        case protocolVersion = "protocol"
        case command, after, participant, request, name, pin, capacity, isAnnounced, addresses, joinCode, key, purpose,
            admission, isMuted, volume, dial, mode, folder, isAllowed, text, path
    }

    /// Creates a command without arguments.
    package init(command: String) { self.command = command }
}
