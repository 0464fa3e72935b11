// SPDX-License-Identifier: Apache-2.0

extension SeededRandom {
    /// A uniform number in 0 ..< count.
    public mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    /// Returns a copy of a text with one to four faults, as from editors, disks, transfers, typing or an attacker.
    /// - Parameter pieces: pieces of the text's grammar, to be inserted in wrong places.
    public mutating func damaged(_ text: [UInt8], pieces: [String]) -> [UInt8] {
        var text = text
        for _ in 0...below(4) { damage(&text, pieces) }
        return text
    }

    private mutating func damage(_ text: inout [UInt8], _ pieces: [String]) {
        let at = below(text.count + 1)
        let range = at..<min(text.count, at + 1 + below(40))
        switch below(14) {
        case 0: if at < text.count { text[at] ^= 1 << UInt8(below(8)) }
        case 1: if at < text.count { text[at] = UInt8(below(256)) }
        case 2: text.removeSubrange(range)
        case 3: text.removeSubrange(at...)
        case 4: text.insert(contentsOf: text[range], at: below(text.count + 1))
        case 5: text += text
        case 6, 7, 8: text.insert(contentsOf: pieces[below(pieces.count)].utf8, at: at)
        case 9: text.insert(contentsOf: [[0], [0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xF8, 0x88]][below(5)], at: at)
        case 10: text.insert(contentsOf: [0xEF, 0xBB, 0xBF], at: below(2) * at)
        case 11: text = text.flatMap { $0 == 0x0A ? [0x0D, 0x0A] : [$0] }
        case 12:
            let piece = ["[", "{a=", "[{b=", "a.", "\"", "'''"][below(6)]
            text.insert(contentsOf: String(repeating: piece, count: 1 << below(10)).utf8, at: at)
        default: text.insert(contentsOf: String(repeating: "9", count: 1 << below(12)).utf8, at: at)
        }
    }
}
