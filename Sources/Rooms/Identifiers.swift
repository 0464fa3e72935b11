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

    /// Reads 26 characters of Crockford's base 32, in either case.
    public init?(_ text: some StringProtocol) {
        guard let bytes = Crockford.bytes(text, count: 16) else { return nil }
        self.bytes = bytes
    }

    /// 26 characters of Crockford's base 32.
    public var description: String { Crockford.text(bytes) }
}

extension RoomID: Codable {
    /// Decodes 26 characters.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no room's identity")
        }
        self = value
    }

    /// Encodes 26 characters.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A member's number in a room. Numbers ascend in the order of joining, and are never reused.
public struct MemberID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number, from 1 to a thousand million.
    public let number: UInt32

    /// Nil outside the range.
    package init?(_ number: UInt64) {
        guard (1...1_000_000_000).contains(number) else { return nil }
        self.number = UInt32(number)
    }

    /// The number of the first member, the founder.
    static let first = MemberID(unchecked: 1)

    var next: MemberID { MemberID(unchecked: number + 1) }

    private init(unchecked number: UInt32) { self.number = number }

    /// The number.
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

/// The number of a room's handovers to another host. Two parts of a split room may have the same.
public struct Epoch: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number, from 1 for the founder.
    public let number: UInt32

    /// Nil outside 1 to a thousand million.
    package init?(_ number: UInt64) {
        guard (1...1_000_000_000).contains(number) else { return nil }
        self.number = UInt32(number)
    }

    /// The founder's epoch.
    package static let first = Epoch(unchecked: 1)

    var next: Epoch { Epoch(unchecked: number + 1) }

    private init(unchecked number: UInt32) { self.number = number }

    /// The number.
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

/// The number of an event in a host's stream to one member: the `id:` of a server-sent event, `EPOCH-NUMBER`.
package struct EventID: Hashable, Sendable, CustomStringConvertible {
    /// The epoch of the host.
    package let epoch: Epoch
    /// The number, from 1 for each member.
    package let number: UInt64

    init(epoch: Epoch, number: UInt64) {
        self.epoch = epoch
        self.number = number
    }

    /// Reads `EPOCH-NUMBER`.
    package init?(_ text: some StringProtocol) {
        guard let (epoch, number) = pair(text), let epoch = Epoch(epoch) else { return nil }
        self.init(epoch: epoch, number: number)
    }

    /// `EPOCH-NUMBER`.
    package var description: String { "\(epoch)-\(number)" }
}

/// The id of an offer of media and its session: the offerer and the offerer's number for it. `MEMBER-NUMBER`.
package struct OfferID: Hashable, Sendable, CustomStringConvertible {
    /// The offering member.
    package let from: MemberID
    /// The offerer's number, unique among its offers.
    package let number: UInt64

    /// Creates an id.
    /// - Precondition: `number` is below 2⁵³, so that JavaScript can represent it.
    package init(from: MemberID, number: UInt64) {
        precondition(number < 1 << 53)
        self.from = from
        self.number = number
    }

    /// Reads `MEMBER-NUMBER`.
    package init?(_ text: some StringProtocol) {
        guard let (from, number) = pair(text), let from = MemberID(from) else { return nil }
        self.init(from: from, number: number)
    }

    /// `MEMBER-NUMBER`.
    package var description: String { "\(from)-\(number)" }
}

/// Reads two numbers below 2⁵³ with a hyphen between.
private func pair(_ text: some StringProtocol) -> (UInt64, UInt64)? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    let numbers = parts.compactMap(wireNumber)
    return parts.count == 2 && numbers.count == 2 ? (numbers[0], numbers[1]) : nil
}

/// Reads a number below 2⁵³ in decimal digits.
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

/// A request from another peer, until it is answered or its event stream is closed. The live layer assigns the numbers.
package struct RequestID: Hashable, Sendable {
    /// A number that is not in use.
    package let number: UInt64

    /// Creates an id.
    package init(_ number: UInt64) { self.number = number }
}

/// A request to another peer, until it is answered or its event stream is closed.
package struct CallID: Hashable, Sendable {
    /// The number, ascending.
    package let number: UInt64
}

/// A question to the user at the host.
public struct JoinRequestID: Hashable, Sendable {
    /// The number, ascending.
    public let number: UInt64
}
