// SPDX-License-Identifier: Apache-2.0

/// The sequence numbers that a remote peer misses, in RTCP's generic NACK (RFC 4585 §6.2.1): words of a number and a bit for each
/// of the next sixteen.
enum NACKMessage {
    /// The format (FMT) of a NACK among transport-layer feedback messages.
    static let format = 1
    /// The maximum numbers in a message.
    static let maximumCount = 64

    /// Reads the words after the two sources.
    /// - Parameter visit: receives each number, in the order of the words, at most ``maximumCount``.
    static func read(_ bytes: RawSpan, at words: Range<Int>, _ visit: (UInt16) -> Void) {
        var count = 0
        var at = words.lowerBound
        while words.upperBound - at >= 4, count < maximumCount {
            let first = bytes.bigEndian16(at)
            let others = bytes.bigEndian16(at + 2)
            visit(first)
            count += 1
            for bit in 0..<16 where others & (1 << UInt16(bit)) != 0 && count < maximumCount {
                visit(first &+ 1 &+ UInt16(bit))
                count += 1
            }
            at += 4
        }
    }

    /// Writes the words.
    /// - Parameters:
    ///   - missing: extended numbers, ascending.
    ///   - bytes: has room for four bytes a number after `start`.
    /// - Returns: the end of the words.
    static func write(
        _ missing: some Sequence<Int>, into bytes: inout MutableRawSpan, at start: Int
    ) -> Int {
        var at = start
        var first: Int?
        var others: UInt16 = 0
        for number in missing {
            if let first, number > first, number - first <= 16 {
                others |= 1 << UInt16(number - first - 1)
                continue
            }
            if let first { at = put(first, others, into: &bytes, at: at) }
            first = number
            others = 0
        }
        if let first { at = put(first, others, into: &bytes, at: at) }
        return at
    }

    private static func put(
        _ first: Int, _ others: UInt16, into bytes: inout MutableRawSpan, at: Int
    ) -> Int {
        bytes.put(UInt16(truncatingIfNeeded: first), at: at)
        bytes.put(others, at: at + 2)
        return at + 4
    }
}
