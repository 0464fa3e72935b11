// SPDX-License-Identifier: Apache-2.0

/// Removes SHOUTcast's metadata from a stream. A length byte, in units of sixteen bytes, and a text of that length follow every
/// `interval` bytes of sound.
///
/// Accepts the bytes in chunks of any size. Holds at most the 4,080 bytes of a text.
struct ICYParser {
    /// A title and its byte offset in the sound.
    struct Title: Hashable {
        let offset: Int
        let text: String
    }

    private let interval: Int
    private var soundBytesLeft: Int  // until the next length byte
    private var textBytesLeft: Int?  // until the text's end; nil in sound
    private var text: [UInt8] = []
    private var offset = 0
    private var lastTitle: String?

    /// - Parameter interval: `icy-metaint`; 0 if there is no metadata.
    init(interval: Int) {
        self.interval = interval
        soundBytesLeft = interval
    }

    /// Appends the sound in `bytes` to `sound`. Returns the titles in `bytes`, except repetitions of the previous one.
    mutating func parse(_ bytes: UnsafeRawBufferPointer, into sound: inout [UInt8]) -> [Title] {
        guard interval > 0 else {
            sound.append(contentsOf: bytes)
            offset += bytes.count
            return []
        }
        var rest = bytes[...]
        var titles: [Title] = []
        while let first = rest.first {
            if let wanted = textBytesLeft {
                let piece = rest.prefix(wanted)
                text.append(contentsOf: piece)
                rest = rest.dropFirst(piece.count)
                textBytesLeft = wanted - piece.count
            } else if soundBytesLeft > 0 {
                let piece = rest.prefix(soundBytesLeft)
                sound.append(contentsOf: piece)
                offset += piece.count
                soundBytesLeft -= piece.count
                rest = rest.dropFirst(piece.count)
            } else {
                textBytesLeft = Int(first) * 16
                rest = rest.dropFirst()
            }
            if textBytesLeft == 0 {
                if let title = Self.title(text), title != lastTitle {
                    titles.append(Title(offset: offset, text: title))
                    lastTitle = title
                }
                text.removeAll(keepingCapacity: true)
                textBytesLeft = nil
                soundBytesLeft = interval
            }
        }
        return titles
    }

    /// Returns the value of `StreamTitle='…';`, decoded as UTF-8 if valid, otherwise as Latin-1, which older stations send. nil
    /// if there is no such field.
    static func title(_ bytes: [UInt8]) -> String? {
        let key = Array("StreamTitle='".utf8)
        guard bytes.count > key.count,
            let start = (0...(bytes.count - key.count)).first(where: { bytes[$0...].starts(with: key) })
        else { return nil }
        let value = bytes[(start + key.count)...]
        // The title may contain quotes: it ends at the first `';`, or else at the last quote.
        let terminator = Array("';".utf8)
        var end = value.lastIndex(of: 39) ?? value.endIndex
        if let found = value.indices.first(where: { value[$0...].starts(with: terminator) }) { end = found }
        let text = value[..<end].prefix { $0 != 0 }
        return String(validating: text, as: UTF8.self)
            ?? String(String.UnicodeScalarView(text.map { Unicode.Scalar($0) }))
    }
}
