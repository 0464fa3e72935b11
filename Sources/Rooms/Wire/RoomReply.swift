// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// A peer's answer to a ``RoomRequest``.
package enum RoomReply: Hashable, Sendable {
    /// Status 200 to `describe`.
    case room(RoomInfo)
    /// Status 201 to `ask`.
    case admitted(Admission)
    /// Status 200 to `events`: the stream begins.
    case events
    /// Status 200 to `update`.
    case status(MemberStatus)
    /// Status 201 to `offer`; `Location` has the session's path.
    case answered(SignedDescription, by: MemberID)
    /// Status 204 to `leave`, `answer` and `end`.
    case done
    /// Any other status.
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
    /// - Throws: the remote peer's error, or that its reply is invalid.
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
