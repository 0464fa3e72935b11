// SPDX-License-Identifier: Apache-2.0

/// The pairs of a DNS-SD TXT record (RFC 6763 §6): strings of up to 255 bytes, each after its length, most of them `key=value`.
package struct TXTRecord: Hashable, Sendable {
    /// The maximum bytes that are read (RFC 6763 §6.2 recommends at most 1,300).
    package static let maximumSize = 1_300
    /// The maximum number of pairs.
    package static let maximumPairCount = 32

    private var pairs: [(key: String, value: [UInt8]?)] = []

    /// Creates an empty record.
    package init() {}

    /// Reads a record. Skips strings that are cut off, or have no key or a repeated one (§6.4).
    package init(parsing bytes: some Sequence<UInt8>) {
        var rest = Array(bytes.prefix(Self.maximumSize))[...]
        while let size = rest.popFirst(), rest.count >= size, pairs.count < Self.maximumPairCount {
            append(rest.prefix(Int(size)))
            rest = rest.dropFirst(Int(size))
        }
    }

    private mutating func append(_ string: ArraySlice<UInt8>) {
        let equals = string.firstIndex(of: UInt8(ascii: "="))
        let key = string[..<(equals ?? string.endIndex)]
        // A key is printable ASCII; the case of its letters is ignored.
        guard !key.isEmpty, key.allSatisfy({ (0x20...0x7E).contains($0) }) else { return }
        let name = String(decoding: key, as: UTF8.self).lowercased()
        guard !pairs.contains(where: { $0.key == name }) else { return }
        pairs.append((name, equals.map { Array(string[($0 + 1)...]) }))
    }

    /// The value of a key as text; nil if there is no value, or it is not UTF-8. `key` must be in lower case.
    package subscript(key: String) -> String? {
        get { pairs.first { $0.key == key }?.value.flatMap { String(validating: $0, as: UTF8.self) } }
        set {
            pairs.removeAll { $0.key == key }
            if let newValue { pairs.append((key, Array(newValue.utf8))) }
        }
    }

    /// The bytes of the record in DNS. Pairs of more than 255 bytes are left out.
    package var bytes: [UInt8] {
        let strings = pairs.map { pair in Array(pair.key.utf8) + (pair.value.map { [UInt8(ascii: "=")] + $0 } ?? []) }
        let encoded = strings.filter { (1...255).contains($0.count) }.flatMap { [UInt8($0.count)] + $0 }
        return encoded.isEmpty ? [0] : encoded
    }

    /// Returns true if keys, values and their order are equal.
    package static func == (a: TXTRecord, b: TXTRecord) -> Bool {
        a.pairs.elementsEqual(b.pairs) { $0.key == $1.key && $0.value == $1.value }
    }

    /// Hashes keys and values.
    package func hash(into hasher: inout Hasher) {
        for pair in pairs {
            hasher.combine(pair.key)
            hasher.combine(pair.value)
        }
    }
}
