// SPDX-License-Identifier: Apache-2.0

/// A request of a client of a call's socket.
enum CallSocketRequest: Equatable, Sendable {
    /// Returns the state of the call.
    case status
    /// Sends each event after a number; nil for each new event.
    case watch(after: UInt64?)
    case perform(LiveCallCommand)
    case controlDuet(DuetOrder)

    /// The part of a line that is the same in all versions of the protocol.
    private struct Envelope: Decodable {
        var version: Int?

        private enum CodingKeys: String, CodingKey {
            case version = "protocol"
        }
    }

    /// Reads a line.
    /// - Throws: an error for the client. ``ErrorDocument/isOtherProtocol`` is true for a client with another protocol.
    init(parsing line: [UInt8]) throws(ErrorDocument) {
        if let version = CallJSON.decoded(Envelope.self, from: line)?.version, version != CallSocket.version {
            throw .otherProtocol(version)
        }
        guard let document = CallJSON.decoded(CommandDocument.self, from: line) else { throw .malformed }
        switch document.command {
        case "status": self = .status
        case "watch": self = .watch(after: document.after)
        case CommandDocument.duetCommand:
            do throws(CommandDocumentError) { self = .controlDuet(try document.duetOrder()) } catch {
                throw ErrorDocument(error)
            }
        default: self = .perform(try Self.command(document))
        }
    }

    private static func command(_ document: CommandDocument) throws(ErrorDocument) -> LiveCallCommand {
        do throws(CommandDocumentError) {
            return try document.liveCallCommand()
        } catch {
            throw ErrorDocument(error)
        }
    }
}

extension ErrorDocument {
    private static let otherProtocolCode = "protocol"

    /// True if the client uses another version of the protocol.
    var isOtherProtocol: Bool { code == Self.otherProtocolCode }

    static func otherProtocol(_ version: Int) -> ErrorDocument {
        ErrorDocument(
            code: otherProtocolCode,
            text: "This call uses version \(CallSocket.version) of the protocol, not version \(version)")
    }

    static let malformed = ErrorDocument(
        code: "malformed", text: "The line is not a JSON object with a command and its fields")
    static let lineTooLong = ErrorDocument(
        code: "line-too-long", text: "The line is longer than \(CallSocket.requestByteLimit) bytes")
    static let tooManyRequests = ErrorDocument(
        code: "too-many-requests", text: "More than \(CallSocket.requestLimit) requests in a second")
    static let tooManyClients = ErrorDocument(
        code: "too-many-clients", text: "The call already has \(CallSocket.clientLimit) clients")
    static let alreadyWatching = ErrorDocument(
        code: "already-watching", text: "This client already gets the events")
}
