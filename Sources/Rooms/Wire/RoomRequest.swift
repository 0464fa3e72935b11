// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// A request of one peer to another over HTTPS.
package enum RoomRequest: Hashable, Sendable {
    /// `GET /room`: asks for a description of the room.
    case describe
    /// `POST /room/guests`: asks to be admitted. The reply follows when the host has decided.
    case ask(JoinRequestBody)
    /// `DELETE /room/guests/me`: cancels the request to join, or leaves.
    case leave
    /// `GET /room/events`: opens the event stream, which continues after the event with this id; nil begins with the whole
    /// roster.
    case events(after: EventID?)
    /// `PATCH /room/members/me`: updates the member, or gives a sign of life.
    case update(MemberUpdate)
    /// `POST /room/members/{id}/offer`: offers media to a member. The reply follows when the member has answered. The host puts
    /// the caller's number into the offer's id.
    case offer(SignedDescription, to: MemberID)
    /// `POST /room/offers/{offer}/answer`: answers an offer that came as an event.
    case answer(SignedDescription)
    /// `DELETE /room/members/{id}/session/{offer}`: ends a media session; `id` is the member who answered the offer.
    case end(OfferID, with: MemberID)
}

/// The fields and body of an HTTP request or reply. Field names are in lower case.
package struct HTTPMessage: Hashable, Sendable {
    /// The maximum bytes of a body.
    package static let maximumBodySize = 65_536

    /// The header fields by name, such as `content-type`.
    package var fields: [String: String]
    /// The body; at most ``maximumBodySize`` bytes are read.
    package var body: [UInt8]

    /// Creates a message.
    /// - Parameter fields: names in lower case.
    package init(fields: [String: String] = [:], body: [UInt8] = []) {
        self.fields = fields
        self.body = body
    }

    static func json(_ body: [UInt8]) -> HTTPMessage {
        HTTPMessage(fields: ["content-type": "application/json"], body: body)
    }

    func isOfType(_ type: String) -> Bool {
        let value = fields["content-type"]?.split(separator: ";").first ?? ""
        return value.trimmingSuffix(while: \.isWhitespace).lowercased() == type
    }
}

extension Substring {
    fileprivate func trimmingSuffix(while isDropped: (Character) -> Bool) -> Substring {
        var rest = self
        while let last = rest.last, isDropped(last) { rest.removeLast() }
        return rest
    }
}

extension RoomRequest {
    /// The HTTP method.
    package var method: String {
        switch self {
        case .describe, .events: "GET"
        case .ask, .offer, .answer: "POST"
        case .update: "PATCH"
        case .leave, .end: "DELETE"
        }
    }

    /// The path of the request, its HTTP target.
    package var path: String {
        switch self {
        case .describe: "/room"
        case .ask: "/room/guests"
        case .leave: "/room/guests/me"
        case .events: "/room/events"
        case .update: "/room/members/me"
        case .offer(_, let member): "/room/members/\(member)/offer"
        case .answer(let answer): "/room/offers/\(answer.offer)/answer"
        case .end(let offer, let member): "/room/members/\(member)/session/\(offer)"
        }
    }

    /// The header fields and body.
    package var parts: HTTPMessage {
        switch self {
        case .describe, .leave, .end: HTTPMessage()
        case .events(let last):
            HTTPMessage(
                fields: ["accept": "text/event-stream"].merging(
                    last.map { ["last-event-id": $0.description] } ?? [:], uniquingKeysWith: { $1 }))
        case .ask(let ask): .json(WireJSON.encoded(ask))
        case .update(let update): .json(WireJSON.encoded(update))
        case .offer(let offer, _): offer.parts
        case .answer(let answer): answer.parts
        }
    }

    /// Reads a request.
    /// - Parameter path: the target; what follows a `?` is ignored.
    package init(method: String, path: String, parts: HTTPMessage) throws(RoomError) {
        guard parts.body.count <= WireJSON.maximumBodySize else { throw .tooLarge(limit: WireJSON.maximumBodySize) }
        guard path.utf8.count <= 256, path.hasPrefix("/") else { throw .notFound }
        let slices = path.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        let segments = slices.map(String.init)
        func allow(_ allowed: String) throws(RoomError) {
            guard method == allowed else { throw .wrongMethod }
        }
        switch segments {
        case ["room"]:
            try allow("GET")
            self = .describe
        case ["room", "guests"]:
            try allow("POST")
            self = .ask(try parts.json(JoinRequestBody.self, isVersioned: true))
        case ["room", "guests", "me"]:
            try allow("DELETE")
            self = .leave
        case ["room", "events"]:
            try allow("GET")
            self = .events(after: parts.fields["last-event-id"].flatMap { EventID($0) })
        case ["room", "members", "me"]:
            try allow("PATCH")
            self = .update(try parts.json(MemberUpdate.self, isVersioned: false))
        default:
            try self.init(method: method, member: segments, parts: parts)
        }
    }

    /// Reads a request with a member's number or an offer's id in its path.
    private init(method: String, member segments: [String], parts: HTTPMessage) throws(RoomError) {
        guard segments.count >= 4, segments[0] == "room" else { throw .notFound }
        let rest = segments[3...].joined(separator: "/")
        switch (segments[1], rest.split(separator: "/").first) {
        case ("members", "offer") where segments.count == 4:
            guard method == "POST" else { throw .wrongMethod }
            guard let member = wireNumber(segments[2]).flatMap(MemberID.init) else { throw .noSuchMember }
            guard let number = parts.fields["earshot-offer"].flatMap(wireNumber) else {
                throw .malformed("it has no field 'Earshot-Offer' with a number")
            }
            self = .offer(try parts.description(of: OfferID(from: member, number: number)), to: member)
        case ("offers", "answer") where segments.count == 4:
            guard method == "POST" else { throw .wrongMethod }
            guard let offer = OfferID(segments[2]) else { throw .noSuchOffer }
            self = .answer(try parts.description(of: offer))
        case ("members", "session") where segments.count == 5:
            guard method == "DELETE" else { throw .wrongMethod }
            guard let member = wireNumber(segments[2]).flatMap(MemberID.init) else { throw .noSuchMember }
            guard let offer = OfferID(segments[4]) else { throw .noSuchOffer }
            self = .end(offer, with: member)
        default: throw .notFound
        }
    }
}

extension HTTPMessage {
    fileprivate func json<T: Decodable>(_ type: T.Type, isVersioned: Bool) throws(RoomError) -> T {
        guard isOfType("application/json") else { throw .wrongMediaType }
        return isVersioned ? try WireJSON.decodedVersioned(type, from: body) : try WireJSON.decoded(type, from: body)
    }

    /// Reads a description with its signature in header fields.
    func description(of offer: OfferID) throws(RoomError) -> SignedDescription {
        guard isOfType("application/sdp") else { throw .wrongMediaType }
        guard body.count <= WireJSON.maximumDescriptionSize else {
            throw .tooLarge(limit: WireJSON.maximumDescriptionSize)
        }
        guard let sdp = String(validating: body, as: UTF8.self) else {
            throw .malformed("the description is not UTF-8")
        }
        func bytes(_ field: String) throws(RoomError) -> [UInt8]? {
            guard let text = fields[field] else { return nil }
            guard text.utf8.count <= 1_024, let value = Base64(text: text) else {
                throw .malformed("the field '\(field)' is not base64")
            }
            return value.bytes
        }
        return SignedDescription(
            offer: offer, sdp: sdp, signature: try bytes("earshot-signature"), publicKey: try bytes("earshot-key"))
    }
}

extension SignedDescription {
    /// The body as `application/sdp`, with the signature in header fields.
    var parts: HTTPMessage {
        var fields = ["content-type": "application/sdp", "earshot-offer": "\(offer.number)"]
        fields["earshot-signature"] = signature.map { Base64($0).text }
        fields["earshot-key"] = publicKey.map { Base64($0).text }
        return HTTPMessage(fields: fields, body: Array(sdp.utf8))
    }
}
