// SPDX-License-Identifier: Apache-2.0

import EarshotNearby
import EarshotRooms

/// A room as JSON. Fields after `epoch` are nil if the local participant is in the room.
package struct RoomDocument: Codable, Equatable, Sendable {
    package var name: String
    /// The room's identity, which stays the same when the host changes.
    package var id: String
    /// The epoch: 1 at first, incremented when another participant becomes the host.
    package var epoch: Int
    package var host: String?
    /// The fingerprint of the host's key, as the room states it.
    package var hostKey: String?
    package var participantCount: Int?
    package var capacity: Int?
    package var needsPIN: Bool?

    init(_ room: LiveCallSnapshot.Room) {
        name = room.name.text
        id = room.id.description
        epoch = Int(room.epoch.number)
    }

    init(_ info: RoomInfo) {
        name = info.name.text
        id = info.room.description
        epoch = Int(info.epoch.number)
        host = info.hostName.text
        hostKey = info.hostKey.hex
        participantCount = info.memberCount
        capacity = info.capacity
        needsPIN = info.needsPIN
    }
}

/// A guest who waits for the host's decision, as JSON.
package struct JoinRequestDocument: Codable, Equatable, Sendable {
    /// The number of the request, which commands use.
    package var id: UInt64
    package var name: String
    /// The fingerprint of the key; nil for a browser.
    package var key: String?
    package var purpose: String?
    package var address: String
    /// True if a user admitted this key before.
    package var isKnown: Bool

    init(_ request: JoinRequest) {
        id = request.id.number
        name = request.guest.name.text
        key = request.guest.key?.hex
        purpose = request.guest.purpose?.text
        address = request.guest.address.description
        isKnown = request.guest.isKnown
    }
}

/// The state of a room's announcement as JSON.
package struct DiscoveryDocument: Codable, Equatable, Sendable {
    /// `starting`, `advertising`, `collision`, `unavailable` or `stopped`.
    package var state: String
    /// The announced name; nil unless the state is `advertising`.
    package var name: String?
    package var text: String

    init(_ state: RoomAdvertiser.State) {
        text = state.description
        switch state {
        case .starting: self.state = "starting"
        case .advertising(let name): (self.state, self.name) = ("advertising", name)
        case .collision: self.state = "collision"
        case .unavailable: self.state = "unavailable"
        case .stopped: self.state = "stopped"
        }
    }
}

/// A message as JSON.
package struct MessageDocument: Codable, Equatable, Sendable {
    /// The sender's number in the room.
    package var sender: UInt64
    /// The sender's name; nil if it is unknown.
    package var name: String?
    /// The text; nil if the message is not text.
    package var text: String?
    package var byteCount: Int

    init(_ message: ChatMessage) {
        sender = UInt64(message.sender.number)
        name = message.senderName?.text
        text = message.text
        byteCount = message.byteCount
    }
}

/// A file's transfer as JSON.
package struct TransferDocument: Codable, Equatable, Sendable {
    /// A participant who did not get the file.
    package struct Undelivered: Codable, Equatable, Sendable {
        package var name: String
        package var error: ErrorDocument
    }

    package var id: UInt64
    /// The name of the file.
    package var file: String
    /// The size in bytes; 0 while unknown.
    package var byteCount: Int64
    /// The sender's name; nil for an outgoing file, or if it is unknown.
    package var sender: String?
    /// `declined`, `receiving`, `received`, `sending`, `sent`, `failed` or `undelivered`.
    package var state: String
    /// The path of the received file.
    package var path: String?
    package var error: ErrorDocument?
    package var undelivered: [Undelivered]?

    init(_ transfer: FileTransfer) {
        id = transfer.id
        file = transfer.name
        byteCount = transfer.byteCount
        sender = transfer.sender?.text
        switch transfer.state {
        case .declined: state = "declined"
        case .receiving: state = "receiving"
        case .received(let path): (state, self.path) = ("received", path)
        case .sending: state = "sending"
        case .sent: state = "sent"
        case .failed(let error): (state, self.error) = ("failed", ErrorDocument(code: "transfer", error))
        case .undelivered(let list):
            state = "undelivered"
            undelivered = list.map {
                Undelivered(name: $0.name.text, error: ErrorDocument(code: "transfer", $0.reason))
            }
        }
    }
}
