// SPDX-License-Identifier: Apache-2.0

/// The protocol of a call's socket, which docs/call-events.md describes, and its limits.
package enum CallSocket {
    /// The version of the protocol.
    package static let version = 1
    /// The maximum bytes of a client's line.
    package static let requestByteLimit = 65_536
    /// The maximum bytes of a line from the call: a message of 64 KiB in which each byte is escaped, and its event.
    package static let lineByteLimit = 1 << 20
    /// The maximum bytes that wait for a slow client. A client that is further behind is disconnected.
    package static let outputByteLimit = 2 * lineByteLimit
    /// The maximum clients at a time.
    package static let clientLimit = 8
    /// The maximum requests of a client in a second. A client that sends more is disconnected.
    package static let requestLimit = 100
    /// The maximum new clients in a second. Further ones wait. With ``requestLimit`` it bounds the requests of a program that
    /// connects again and again.
    package static let connectionLimit = 30
}

/// The first line from a call.
package struct CallSocketHello: Codable, Equatable, Sendable {
    /// The fields that are the same in all versions of the protocol.
    struct Versions: Decodable {
        var earshot: String
        var version: Int

        private enum CodingKeys: String, CodingKey {
            case earshot
            case version = "protocol"
        }
    }

    /// The version of the program that has the call.
    package var earshot: String
    /// The version of the protocol.
    package var version: Int
    package var pid: Int32?
    /// The room's name; nil before the call is in a room.
    package var room: String?
    /// The code and the text of the reason that the client is disconnected.
    package var error: String?
    package var text: String?

    private enum CodingKeys: String, CodingKey {
        case earshot
        case version = "protocol"
        case pid, room, error, text
    }

    package init(earshot: String, version: Int = CallSocket.version, pid: Int32? = nil, room: String? = nil) {
        self.earshot = earshot
        self.version = version
        self.pid = pid
        self.room = room
    }
}

/// The answer to a request.
package struct CallSocketAnswer: Codable, Equatable, Sendable {
    /// True if the request was executed; otherwise nil.
    package var ok: Bool?
    /// The code and the text of the reason that the request was not executed.
    package var error: String?
    package var text: String?
    /// The answer to `status`.
    package var status: StatusDocument?
    /// The number of the event before the first event that `watch` sends.
    package var lastEvent: UInt64?

    package init(status: StatusDocument? = nil, lastEvent: UInt64? = nil) {
        ok = true
        self.status = status
        self.lastEvent = lastEvent
    }

    package init(_ refusal: ErrorDocument) {
        error = refusal.code
        text = refusal.text
    }

    /// The reason that the request was not executed; nil if it was.
    package var refusal: ErrorDocument? { error.map { ErrorDocument(code: $0, text: text ?? $0) } }
}
