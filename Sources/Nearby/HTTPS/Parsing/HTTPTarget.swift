// SPDX-License-Identifier: Apache-2.0

/// The target of a request: `/room/members/7`. A query is ignored.
struct HTTPTarget: Hashable, Sendable {
    /// The path as it was sent, without the query: `/room/members/7`.
    let path: String
    /// The unescaped components: `["room", "members", "7"]`. An escaped `/` in a name does not separate.
    let components: [String]

    /// - Parameter text: the target of the request line. The result is nil for a target with a scheme and a host, one that does
    ///   not begin with `/`, or one with an invalid character or escape.
    init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "/"), text.utf8.allSatisfy({ (33...126).contains($0) }) else {
            return nil
        }
        path = String(text.prefix { $0 != "?" })
        var components: [String] = []
        for part in path.split(separator: "/") {
            guard let component = Self.unescape(part) else { return nil }
            components.append(component)
        }
        self.components = components
    }

    /// Returns a path's component with everything escaped except letters, digits and `-._~`.
    static func escape(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func unescape(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
