// SPDX-License-Identifier: Apache-2.0

/// The sequence numbers that a remote peer misses, in RTCP's generic NACK (RFC 4585 §6.2.1). Each word has one number, and a bit
/// for each of the next sixteen numbers.
enum NACKMessage {
    /// The format (FMT) of a NACK among transport-layer feedback messages.
    static let format = 1
    /// The maximum numbers in a message.
    static let maximumCount = 64

    /// Reads the words that follow the two sources of a NACK.
    /// - Parameter visit: receives each number, in the order of the words, at most ``maximumCount``.
    static func read(_ bytes: RawSpan, at words: Range<Int>, _ visit: (UInt16) -> Void) {
        var count = 0
        var offset = words.lowerBound
        while words.upperBound - offset >= 4, count < maximumCount {
            let first = bytes.bigEndian16(offset)
            let others = bytes.bigEndian16(offset + 2)
            visit(first)
            count += 1
            for bit in 0..<16 where others & (1 << UInt16(bit)) != 0 && count < maximumCount {
                visit(first &+ 1 &+ UInt16(bit))
                count += 1
            }
            offset += 4
        }
    }

    /// Writes the words of a NACK.
    /// - Parameters:
    ///   - missing: extended numbers, ascending.
    ///   - bytes: has room for four bytes a number after `start`.
    /// - Returns: the offset of the end of the words.
    static func write(
        _ missing: some Sequence<Int>, into bytes: inout MutableRawSpan, at start: Int
    ) -> Int {
        var offset = start
        var first: Int?
        var others: UInt16 = 0
        for number in missing {
            if let first, number > first, number - first <= 16 {
                others |= 1 << UInt16(number - first - 1)
                continue
            }
            if let first { offset = put(first, others, into: &bytes, at: offset) }
            first = number
            others = 0
        }
        if let first { offset = put(first, others, into: &bytes, at: offset) }
        return offset
    }

    private static func put(
        _ first: Int, _ others: UInt16, into bytes: inout MutableRawSpan, at offset: Int
    ) -> Int {
        bytes.put(UInt16(truncatingIfNeeded: first), at: offset)
        bytes.put(others, at: offset + 2)
        return offset + 4
    }
}
