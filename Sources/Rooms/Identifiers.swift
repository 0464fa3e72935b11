// SPDX-License-Identifier: Apache-2.0

/// A room's identity: 16 random bytes, kept across handovers to other hosts.
public struct RoomID: Hashable, Sendable, CustomStringConvertible {
    /// The 16 bytes.
    package let bytes: [UInt8]

    /// Draws a random id.
    package init(using random: inout some RandomNumberGenerator) {
        bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    /// Creates an id; nil unless there are 16 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Reads an id from 26 characters of Crockford's base 32, in upper or lower case; nil for any other text.
    public init?(_ text: some StringProtocol) {
        guard let bytes = Crockford.bytes(text, count: 16) else { return nil }
        self.bytes = bytes
    }

    /// The id as 26 characters of Crockford's base 32.
    public var description: String { Crockford.text(bytes) }
}

extension RoomID: Codable {
    /// Decodes an id from a string of 26 characters of Crockford's base 32.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no room's identity")
        }
        self = value
    }

    /// Encodes the id as a string of 26 characters of Crockford's base 32.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A member's number in a room. Numbers ascend in the order of joining, and are never reused.
public struct MemberID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The member's number, from 1 to 1,000,000,000.
    public let number: UInt32

    /// Creates a member's number; nil unless it is from 1 to 1,000,000,000.
    package init?(_ number: UInt64) {
        guard (1...1_000_000_000).contains(number) else { return nil }
        self.number = UInt32(number)
    }

    /// The number of the first member, the founder.
    static let first = MemberID(unchecked: 1)

    var next: MemberID { MemberID(unchecked: number + 1) }

    private init(unchecked number: UInt32) { self.number = number }

    /// The member's number in decimal digits.
    public var description: String { "\(number)" }

    /// Returns true if `a` joined before `b`.
    public static func < (a: MemberID, b: MemberID) -> Bool { a.number < b.number }
}

extension MemberID: Codable {
    /// Decodes a number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(try container.decode(UInt64.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no member's number")
        }
        self = value
    }

    /// Encodes a number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }
}

/// A room's epoch: 1 under the founder, and one more after each handover to another host. Two parts of a split room may have the
/// same epoch.
public struct Epoch: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The epoch's number; 1 under the founder.
    public let number: UInt32

    /// Creates an epoch; nil unless the number is from 1 to 1,000,000,000.
    package init?(_ number: UInt64) {
        guard (1...1_000_000_000).contains(number) else { return nil }
        self.number = UInt32(number)
    }

    /// The first epoch of a room, in which its founder is the host.
    package static let first = Epoch(unchecked: 1)

    var next: Epoch { Epoch(unchecked: number + 1) }

    private init(unchecked number: UInt32) { self.number = number }

    /// The epoch's number in decimal digits.
    public var description: String { "\(number)" }

    /// Returns true if `a` is older than `b`.
    public static func < (a: Epoch, b: Epoch) -> Bool { a.number < b.number }
}

extension Epoch: Codable {
    /// Decodes a number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(try container.decode(UInt64.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no epoch")
        }
        self = value
    }

    /// Encodes a number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }
}

/// The id of an event in a host's stream to one member, written `EPOCH-NUMBER` in the field `id:` of a server-sent event.
package struct EventID: Hashable, Sendable, CustomStringConvertible {
    /// The room's epoch in which the host sent the event.
    package let epoch: Epoch
    /// The event's number for this member, from 1; a new admission or another host restarts the count.
    package let number: UInt64

    init(epoch: Epoch, number: UInt64) {
        self.epoch = epoch
        self.number = number
    }

    /// Reads an id of the form `EPOCH-NUMBER`; nil for any other text.
    package init?(_ text: some StringProtocol) {
        guard let (epoch, number) = hyphenatedNumbers(text), let epoch = Epoch(epoch) else { return nil }
        self.init(epoch: epoch, number: number)
    }

    /// The id in the form `EPOCH-NUMBER`.
    package var description: String { "\(epoch)-\(number)" }
}

/// The id of an offer of media, and of the media session that follows from the offer: the offering member, and that member's
/// number for the offer. It is written `MEMBER-NUMBER`.
package struct OfferID: Hashable, Sendable, CustomStringConvertible {
    /// The offering member.
    package let from: MemberID
    /// The offer's number, unique among the offers of the same member.
    package let number: UInt64

    /// Creates an id.
    /// - Precondition: `number` is below 2⁵³, so that JavaScript can represent it.
    package init(from: MemberID, number: UInt64) {
        precondition(number < 1 << 53)
        self.from = from
        self.number = number
    }

    /// Reads an id of the form `MEMBER-NUMBER`; nil for any other text.
    package init?(_ text: some StringProtocol) {
        guard let (from, number) = hyphenatedNumbers(text), let from = MemberID(from) else { return nil }
        self.init(from: from, number: number)
    }

    /// The id in the form `MEMBER-NUMBER`.
    package var description: String { "\(from)-\(number)" }
}

/// Reads two numbers below 2⁵³ with a hyphen between them; nil for any other text.
private func hyphenatedNumbers(_ text: some StringProtocol) -> (UInt64, UInt64)? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    let numbers = parts.compactMap(wireNumber)
    return parts.count == 2 && numbers.count == 2 ? (numbers[0], numbers[1]) : nil
}

/// Reads a number below 2⁵³ from 1 to 16 decimal digits; nil for any other text.
func wireNumber(_ text: some StringProtocol) -> UInt64? {
    guard (1...16).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }),
        let number = UInt64(text), number < 1 << 53
    else { return nil }
    return number
}

/// A number below 2⁵³ in JSON.
struct WireNumber: Decodable {
    let value: UInt64

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        value = try container.decode(UInt64.self)
        guard value < 1 << 53 else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "2^53 or more")
        }
    }
}

/// The id of a request from another peer, valid until the request is answered or its event stream is closed. The owner of the
/// ``SessionCore`` assigns the numbers.
package struct RequestID: Hashable, Sendable {
    /// The request's number, which no other open request has.
    package let number: UInt64

    /// Creates an id.
    package init(_ number: UInt64) { self.number = number }
}

/// The id of a request to another peer, valid until the request is answered or its event stream is closed.
package struct CallID: Hashable, Sendable {
    /// The request's number; later requests have greater numbers.
    package let number: UInt64
}

/// The id of a question to the user at the host: to admit a guest or not.
public struct JoinRequestID: Hashable, Sendable {
    /// The question's number; later questions have greater numbers.
    public let number: UInt64

    /// Creates an id with a number.
    package init(number: UInt64) { self.number = number }
}
