// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

extension RoomError {
    /// The JSON of an error.
    private struct Body: Codable {
        var error: String
        var message: String
        var retryAfter: Int?
        var limit: Int?
        var attemptsLeft: Int?
        var version: Int?
        var name: PeerName?
        var key: KeyFingerprint?
    }

    /// The error as JSON for a reply: `{"error": CODE, "message": TEXT, …}`.
    var body: [UInt8] {
        var body = Body(error: code, message: description, retryAfter: retryAfter)
        switch self {
        case .malformed(let what): body.message = what
        case .version: body.version = WireJSON.version
        case .tooLarge(let limit), .full(let limit): body.limit = limit
        case .wrongPIN(let left): body.attemptsLeft = left
        case .changedKey(let name, let was): (body.name, body.key) = (name, was)
        default: break
        }
        return WireJSON.encoded(body)
    }

    /// Reads the body of an error's reply. An invalid body gives an error that names only the HTTP status.
    init(status: Int, body bytes: [UInt8]) {
        guard let body = try? WireJSON.decoded(Body.self, from: bytes) else {
            self = .other(code: "unreadable", status: status, message: "HTTP status \(status)")
            return
        }
        if body.error == "changed-key", let name = body.name, let key = body.key {
            self = .changedKey(name: name, was: key)
            return
        }
        let seconds = max(0, min(body.retryAfter ?? 60, 86_400))
        switch body.error {
        case "malformed": self = .malformed(BoundedText.printable(body.message, limit: 200))
        case "version": self = .version(body.version ?? 0)
        case "too-large": self = .tooLarge(limit: body.limit ?? WireJSON.maximumBodySize)
        case "wrong-pin": self = .wrongPIN(attemptsLeft: max(0, body.attemptsLeft ?? 0))
        case "too-many-attempts": self = .tooManyAttempts(retryAfter: seconds)
        case "busy": self = .busy(retryAfter: seconds)
        case "full": self = .full(limit: body.limit ?? 0)
        default:
            self =
                Self.errorsByCode[body.error]
                ?? .other(
                    code: BoundedText.printable(body.error, limit: 40), status: status,
                    message: BoundedText.printable(body.message, limit: 400))
        }
    }

    /// The errors without associated values, by code.
    private static let errorsByCode = Dictionary(
        uniqueKeysWithValues: [
            RoomError.wrongMediaType, .notFound, .wrongMethod, .declined, .unanswered, .cancelled, .replaced, .blocked,
            .unknownKey, .keyNeeded, .ownKey, .pinNeeded, .closed, .notHost, .notMember, .removed, .noSuchMember,
            .memberAway,
            .noSuchOffer, .offerUnanswered,
        ].map { ($0.code, $0) })
}
