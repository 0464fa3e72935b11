// SPDX-License-Identifier: Apache-2.0

/// The bytes of a stream that were not parsed yet, and their offset.
package struct StreamBuffer: Sendable {
    private var bytes: [UInt8] = []
    private var dropped = 0
    private var pendingSkip = 0
    /// The offset in the stream of the first byte in the buffer.
    private(set) var offset: Int
    /// True at the end of the stream.
    var isAtEnd = false

    init(offset: Int = 0) { self.offset = offset }

    /// Creates a buffer with all bytes of a complete stream.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        offset = 0
        isAtEnd = true
    }

    /// The number of bytes.
    package var count: Int { bytes.count - dropped }

    subscript(_ index: Int) -> UInt8 { bytes[dropped + index] }

    /// Appends bytes, except those dropped in advance.
    mutating func append(_ new: UnsafeRawBufferPointer) {
        var new = new[...]
        if pendingSkip > 0 {
            let skipped = min(pendingSkip, new.count)
            new = new.dropFirst(skipped)
            pendingSkip -= skipped
        }
        if dropped >= count {  // so at most one byte is moved for each byte dropped
            bytes.removeSubrange(0..<dropped)
            dropped = 0
        }
        bytes.append(contentsOf: new)
    }

    /// Drops bytes from the beginning, also bytes that have not arrived yet.
    mutating func drop(_ count: Int) {
        offset += count
        let heldCount = min(count, self.count)
        dropped += heldCount
        pendingSkip += count - heldCount
    }

    /// Returns true if the bytes of `text` are at the index.
    func begins(with text: StaticString, at index: Int = 0) -> Bool {
        let length = text.utf8CodeUnitCount
        guard count >= index + length else { return false }
        for i in 0..<length where self[index + i] != text.utf8Start[i] { return false }
        return true
    }

    func copy(_ range: Range<Int>) -> [UInt8] { Array(bytes[dropped + range.lowerBound..<dropped + range.upperBound]) }

    /// Returns the first index from `start` on that has this byte; `count` if there is none.
    func firstIndex(of byte: UInt8, from start: Int) -> Int {
        var index = start
        while index < count, self[index] != byte { index += 1 }
        return index
    }

    func bigEndian(_ index: Int, _ length: Int) -> Int {
        (0..<length).reduce(0) { $0 << 8 | Int(self[index + $1]) }
    }

    func littleEndian(_ index: Int, _ length: Int) -> Int {
        (0..<length).reversed().reduce(0) { $0 << 8 | Int(self[index + $1]) }
    }
}
