// SPDX-License-Identifier: Apache-2.0

/// Removes SHOUTcast's metadata from a stream: after each `interval` bytes of sound a length byte, in units of sixteen bytes,
/// precedes a text.
///
/// Accepts the bytes in chunks of any size. Holds at most the 4,080 bytes of a text.
struct ICYParser {
    /// A title and the byte of the sound at which it begins.
    struct Title: Hashable {
        let offset: Int
        let text: String
    }

    private let interval: Int
    private var left: Int  // bytes of sound before the next length
    private var textLeft: Int?  // bytes of text still to come; nil in sound
    private var text: [UInt8] = []
    private var offset = 0
    private var last: String?

    /// - Parameter interval: `icy-metaint`; 0 if there is no metadata.
    init(interval: Int) {
        self.interval = interval
        left = interval
    }

    /// Appends the sound to `sound`. Returns the new titles.
    mutating func parse(_ bytes: UnsafeRawBufferPointer, into sound: inout [UInt8]) -> [Title] {
        guard interval > 0 else {
            sound.append(contentsOf: bytes)
            offset += bytes.count
            return []
        }
        var rest = bytes[...]
        var titles: [Title] = []
        while let first = rest.first {
            if let wanted = textLeft {
                let piece = rest.prefix(wanted)
                text.append(contentsOf: piece)
                rest = rest.dropFirst(piece.count)
                textLeft = wanted - piece.count
            } else if left > 0 {
                let piece = rest.prefix(left)
                sound.append(contentsOf: piece)
                offset += piece.count
                left -= piece.count
                rest = rest.dropFirst(piece.count)
            } else {
                textLeft = Int(first) * 16
                rest = rest.dropFirst()
            }
            if textLeft == 0 {
                if let title = Self.title(text), title != last {
                    titles.append(Title(offset: offset, text: title))
                    last = title
                }
                text.removeAll(keepingCapacity: true)
                textLeft = nil
                left = interval
            }
        }
        return titles
    }

    /// Returns the value of `StreamTitle='…';`, decoded as UTF-8 if valid, otherwise as Latin-1, which older stations send.
    static func title(_ bytes: [UInt8]) -> String? {
        let key = Array("StreamTitle='".utf8)
        guard bytes.count > key.count,
            let start = (0...(bytes.count - key.count)).first(where: { bytes[$0...].starts(with: key) })
        else { return nil }
        let value = bytes[(start + key.count)...]
        // The text may contain quotes: it ends where the next field begins, or at the last quote.
        let next = Array("';".utf8)
        var end = value.lastIndex(of: 39) ?? value.endIndex
        if let found = value.indices.first(where: { value[$0...].starts(with: next) }) { end = found }
        let text = value[..<end].prefix { $0 != 0 }
        return String(validating: text, as: UTF8.self)
            ?? String(String.UnicodeScalarView(text.map { Unicode.Scalar($0) }))
    }
}
