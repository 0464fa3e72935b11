// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// A peer's answer to a ``RoomRequest``.
package enum RoomReply: Hashable, Sendable {
    /// The reply to `describe`, with HTTP status 200.
    case room(RoomInfo)
    /// The reply to `ask`, with HTTP status 201.
    case admitted(Admission)
    /// The reply to `events`, with HTTP status 200: the event stream begins.
    case events
    /// The reply to `update`, with HTTP status 200.
    case status(MemberStatus)
    /// The reply to `offer`, with HTTP status 201: a member's answer. The header field `Location` has the session's path.
    case answered(SignedDescription, by: MemberID)
    /// The reply to `leave`, `answer` and `end`, with HTTP status 204.
    case done
    /// The reply that refuses a request, with any other HTTP status.
    case refused(RoomError)

    /// The HTTP status.
    package var status: Int {
        switch self {
        case .room, .events, .status: 200
        case .admitted, .answered: 201
        case .done: 204
        case .refused(let error): error.status
        }
    }

    /// The header fields and body.
    package var parts: HTTPMessage {
        switch self {
        case .room(let info): return .json(WireJSON.encoded(info))
        case .admitted(let admission): return .json(WireJSON.encoded(admission))
        case .events: return HTTPMessage(fields: ["content-type": "text/event-stream", "cache-control": "no-store"])
        case .status(let status): return .json(WireJSON.encoded(status))
        case .answered(let answer, let member):
            var parts = answer.parts
            parts.fields["location"] = RoomRequest.end(answer.offer, with: member).path
            return parts
        case .done: return HTTPMessage()
        case .refused(let error):
            var parts = HTTPMessage.json(error.body)
            parts.fields["retry-after"] = error.retryAfter.map { "\($0)" }
            return parts
        }
    }

    /// Reads the reply to a request.
    /// - Throws: an error if the reply is invalid. An error that the remote peer sent becomes ``refused(_:)``.
    package init(to request: RoomRequest, status: Int, parts: HTTPMessage) throws(RoomError) {
        guard (200...299).contains(status) else {
            self = .refused(RoomError(status: status, body: parts.body))
            return
        }
        switch request {
        case .describe: self = .room(try WireJSON.decodedVersioned(RoomInfo.self, from: parts.body))
        case .ask: self = .admitted(try WireJSON.decodedVersioned(Admission.self, from: parts.body))
        case .events:
            guard parts.isOfType("text/event-stream") else { throw .wrongMediaType }
            self = .events
        case .update: self = .status(try WireJSON.decoded(MemberStatus.self, from: parts.body))
        case .offer(let offer, let member): self = .answered(try parts.description(of: offer.offer), by: member)
        case .leave, .answer, .end: self = .done
        }
    }
}
