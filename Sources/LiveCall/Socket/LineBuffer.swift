// SPDX-License-Identifier: Apache-2.0

/// Divides received bytes into lines. Empty lines are left out. A carriage return at the end of a line is removed.
package struct LineBuffer: Sendable {
    /// The maximum bytes of a line without its end.
    package let limit: Int
    /// True after a line was longer than ``limit``. All further bytes are then ignored.
    package private(set) var isTooLong = false
    private var pending: [UInt8] = []

    package init(limit: Int) { self.limit = limit }

    /// Adds received bytes. Returns the lines that they complete.
    package mutating func append(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var rest = bytes
        while !isTooLong, !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n"))
            let piece = rest[..<(end ?? rest.endIndex)]
            guard pending.count + piece.count <= limit else {
                isTooLong = true
                pending = []
                break
            }
            pending += piece
            guard let end else { break }
            rest = rest[(end + 1)...]
            if pending.last == UInt8(ascii: "\r") { pending.removeLast() }
            if !pending.isEmpty { lines.append(pending) }
            pending = []
        }
        return lines
    }
}
