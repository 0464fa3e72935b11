// SPDX-License-Identifier: Apache-2.0

/// The blocks of RTCP's extended reports (RFC 3611): the packets that arrived, and the depth of the jitter buffer.
enum ExtendedReport {
    enum Kind {
        /// Loss RLE (RFC 3611 §4.1).
        static let lossRuns: UInt8 = 1
        /// De-jitter buffer (RFC 7005 §3.1).
        static let buffer: UInt8 = 23
    }
    /// The maximum chunks of two bytes in a block of losses; each but the last covers at least 15 packets.
    static let maximumChunkCount = 96
    /// The maximum bytes of both blocks together.
    static let maximumSize = 12 + 2 * maximumChunkCount + 16

    /// Calls `visit` for each complete block, with its kind and the range after its first four bytes.
    static func forEachBlock(
        _ bytes: RawSpan, in body: Range<Int>, _ visit: (UInt8, Range<Int>) -> Void
    ) {
        var offset = body.lowerBound
        while body.upperBound - offset >= 4 {
            let size = 4 * Int(bytes.bigEndian16(offset + 2))
            guard size <= body.upperBound - offset - 4 else { return }
            visit(bytes.byte(offset), offset + 4..<offset + 4 + size)
            offset += 4 + size
        }
    }

    // MARK: Losses

    /// Returns the pattern of a source's losses; nil if the block is invalid or about another source.
    static func losses(of ssrc: UInt32, _ bytes: RawSpan, _ block: Range<Int>) -> LossPattern? {
        guard block.count >= 8, bytes.bigEndian32(block.lowerBound) == ssrc else { return nil }
        let from = bytes.bigEndian16(block.lowerBound + 4)
        var remaining = Int(bytes.bigEndian16(block.lowerBound + 6) &- from)  // the end is the number after the last
        var pattern = LossPattern()
        var offset = block.lowerBound + 8
        while block.upperBound - offset >= 2, remaining > 0 {
            let chunk = bytes.bigEndian16(offset)
            offset += 2
            if chunk == 0 { break }
            if chunk & 0x8000 == 0 {
                let count = min(remaining, Int(chunk & 0x3FFF))
                pattern.add(count, have: chunk & 0x4000 != 0)
                remaining -= count
            } else {
                for bit in 0..<min(remaining, 15) { pattern.add(1, have: chunk & (0x4000 >> UInt16(bit)) != 0) }
                remaining -= min(remaining, 15)
            }
        }
        pattern.finish()
        return pattern
    }

    /// Writes a block with the packets that were not reported yet, as far as they fit, and marks them as reported.
    /// - Parameter bytes: has room for 12 bytes and ``maximumChunkCount`` chunks after `start`.
    /// - Returns: the offset of the block's end.
    static func write(
        _ record: inout LossRecord, of ssrc: UInt32, into bytes: inout MutableRawSpan, at start: Int
    ) -> Int {
        let all = record.unreported
        var sequence = all.lowerBound
        var offset = start + 12
        var count = 0
        while sequence < all.upperBound, count < maximumChunkCount {
            let isReceived = record.has(sequence)
            var end = sequence + 1
            while end < all.upperBound, end - sequence < 0x3FFF, record.has(end) == isReceived { end += 1 }
            var chunk: UInt16
            if end - sequence >= 15 {
                chunk = (isReceived ? 0x4000 : 0) | UInt16(end - sequence)
            } else {
                end = min(sequence + 15, all.upperBound)
                chunk = 0x8000
                for n in sequence..<end where record.has(n) { chunk |= 0x4000 >> UInt16(n - sequence) }
            }
            bytes.put(chunk, at: offset)
            offset += 2
            count += 1
            sequence = end
        }
        if count % 2 == 1 {
            bytes.put(0 as UInt16, at: offset)
            offset += 2
        }
        bytes.put(Kind.lossRuns, at: start)
        bytes.put(0 as UInt8, at: start + 1)
        bytes.put(UInt16((offset - start) / 4 - 1), at: start + 2)
        bytes.put(ssrc, at: start + 4)
        bytes.put(UInt16(truncatingIfNeeded: all.lowerBound), at: start + 8)
        bytes.put(UInt16(truncatingIfNeeded: sequence), at: start + 10)
        record.report(upTo: sequence)
        return offset
    }

    // MARK: Jitter buffer

    /// Returns the depth of a remote peer's jitter buffer for this source; nil if the block has another source or no depth.
    static func hold(of ssrc: UInt32, _ bytes: RawSpan, _ block: Range<Int>) -> PlayoutHold? {
        guard block.count >= 12, bytes.bigEndian32(block.lowerBound) == ssrc else { return nil }
        let (depth, limit) = (bytes.bigEndian16(block.lowerBound + 4), bytes.bigEndian16(block.lowerBound + 6))
        guard depth < 0xFFFF, limit < 0xFFFF else { return nil }
        return PlayoutHold(seconds: Double(depth) / 1e3, limit: Double(limit) / 1e3)
    }

    /// Writes a block with the depth of the jitter buffer: a sampled value of an adaptive buffer, without its high and low marks.
    /// - Parameter bytes: has room for 16 bytes after `start`.
    /// - Returns: the offset of the block's end.
    static func write(
        _ hold: PlayoutHold, of ssrc: UInt32, into bytes: inout MutableRawSpan, at start: Int
    ) -> Int {
        bytes.put(Kind.buffer, at: start)
        bytes.put(0b0110_0000 as UInt8, at: start + 1)
        bytes.put(3 as UInt16, at: start + 2)
        bytes.put(ssrc, at: start + 4)
        bytes.put(UInt16(Int((hold.seconds * 1e3).rounded(), clampedTo: 0...65_533)), at: start + 8)
        bytes.put(UInt16(Int((hold.limit * 1e3).rounded(), clampedTo: 0...65_533)), at: start + 10)
        bytes.put(UInt32.max, at: start + 12)
        return start + 16
    }
}

/// The depth of a jitter buffer, by which the peer knows if a repeated packet can be in time.
package struct PlayoutHold: Hashable, Sendable {
    /// The seconds for which the earliest packet waits in the buffer.
    package var seconds: Double
    /// The maximum depth in seconds, to which the buffer may grow if that saves packets.
    package var limit: Double

    /// Creates a depth.
    package init(seconds: Double, limit: Double) {
        self.seconds = seconds
        self.limit = limit
    }
}
