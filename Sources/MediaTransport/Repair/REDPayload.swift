// SPDX-License-Identifier: Apache-2.0

/// An RTP payload with redundant blocks of sound, the last one being the packet's own (RFC 2198 §3).
///
/// Does not allocate.
package struct REDPayload: ~Escapable {
    /// One block of a payload.
    @frozen
    package struct Block: Hashable, Sendable {
        /// The payload type of the block's bytes, 0 to 127.
        package var payloadType: UInt8
        /// The clock-rate units by which the block is older than the packet's timestamp; 0 for the packet's own block.
        package var age: Int
        /// The range of the block in the payload; may be empty.
        package var bytes: Range<Int>
    }

    /// The maximum bytes of a redundant block, limited by 10 bits.
    package static let maximumBlockSize = 1_023
    /// The maximum age of a redundant block in clock-rate units, limited by 14 bits.
    package static let maximumAge = 16_383
    /// The maximum redundant blocks that are read. The format has no such limit; no sender uses as many.
    package static let maximumBlockCount = 16
    /// The bytes of the header of a redundant block, and of the header of the packet's own block.
    package static let headerSize = 4, ownHeaderSize = 1

    /// The number of redundant blocks; may be 0.
    package let earlierCount: Int
    /// The packet's own block, the last one.
    package let own: Block
    private let payload: RawSpan

    /// Reads the headers and checks that the blocks fit the payload.
    @_lifetime(copy payload)
    package init(parsing payload: RawSpan) throws(REDPayloadError) {
        self.payload = payload
        var offset = 0
        var earlierSize = 0
        var count = 0
        while true {
            guard offset < payload.byteCount else { throw .cutHeader }
            guard payload.byte(offset) & 0x80 != 0 else { break }
            guard count < Self.maximumBlockCount else { throw .tooManyBlocks }
            guard payload.byteCount - offset >= Self.headerSize else { throw .cutHeader }
            earlierSize += Int(payload.bigEndian16(offset + 2) & 0x3FF)
            offset += Self.headerSize
            count += 1
        }
        offset += Self.ownHeaderSize
        guard earlierSize <= payload.byteCount - offset else {
            throw .cutBlock(announced: earlierSize, present: payload.byteCount - offset)
        }
        earlierCount = count
        own = Block(
            payloadType: payload.byte(count * Self.headerSize) & 0x7F, age: 0,
            bytes: offset + earlierSize..<payload.byteCount)
    }

    /// Calls `body` with each redundant block, in order.
    package func forEachEarlier(_ body: (Block) -> Void) {
        var offset = earlierCount * Self.headerSize + Self.ownHeaderSize
        for index in 0..<earlierCount {
            let header = index * Self.headerSize
            let start = offset
            offset += Int(payload.bigEndian16(header + 2) & 0x3FF)
            body(
                Block(
                    payloadType: payload.byte(header) & 0x7F, age: Int(payload.bigEndian16(header + 1) >> 2),
                    bytes: start..<offset))
        }
    }
}

extension REDPayload {
    /// A redundant block to write.
    @safe package struct RedundantBlock {
        /// The clock-rate units by which the block is older than the packet's own block.
        package var age: Int
        /// The block's bytes; valid while the payload is written.
        package var bytes: UnsafeRawBufferPointer

        var size: Int { unsafe bytes.count }

        /// Creates a block.
        package init(age: Int, bytes: UnsafeRawBufferPointer) {
            self.age = age
            unsafe self.bytes = bytes
        }

        /// Returns true if RED can represent the block's age and length.
        package var fits: Bool {
            (0...REDPayload.maximumAge).contains(age) && size <= REDPayload.maximumBlockSize
        }
    }

    /// Writes a payload with blocks of one payload type. Does not allocate.
    /// - Parameters:
    ///   - earlier: the redundant blocks, the oldest first; at most ``maximumBlockCount``.
    ///   - own: the packet's own block.
    /// - Returns: the payload's size in bytes.
    package static func write(
        _ earlier: some RandomAccessCollection<RedundantBlock>, own: RawSpan, payloadType: UInt8,
        into payload: inout MutableRawSpan
    ) throws(REDPayloadError) -> Int {
        guard earlier.count <= maximumBlockCount else { throw .tooManyBlocks }
        var size = earlier.count * headerSize + ownHeaderSize + own.byteCount
        for block in earlier {
            guard block.fits else { throw .blockDoesNotFit(age: block.age, size: block.size) }
            size += block.size
        }
        guard size <= payload.byteCount else { throw .cutBlock(announced: size, present: payload.byteCount) }
        var header = 0
        var offset = earlier.count * headerSize + ownHeaderSize
        for block in earlier {
            let word = 1 << 31 | Int(payloadType & 0x7F) << 24 | block.age << 10 | block.size
            payload.put(UInt32(word), at: header)
            header += headerSize
            unsafe payload.put(block.bytes.bytes, at: offset)
            offset += block.size
        }
        payload.put(payloadType & 0x7F, at: header)
        payload.put(own, at: offset)
        return size
    }
}

/// The reason that a payload is not RED, or that blocks cannot be written as RED.
package enum REDPayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The headers exceed the payload.
    case cutHeader
    /// The blocks exceed the payload; the values are bytes.
    case cutBlock(announced: Int, present: Int)
    /// There are more than ``REDPayload/maximumBlockCount`` redundant blocks.
    case tooManyBlocks
    /// The block to write is too old or too long; the values are clock-rate units and bytes.
    case blockDoesNotFit(age: Int, size: Int)

    /// One line for a log.
    package var description: String {
        switch self {
        case .cutHeader: "RED headers exceed the packet; it was cut or is not RED"
        case .cutBlock(let announced, let present):
            "RED blocks of \(announced) bytes exceed the \(present) that follow; the packet was cut or is not RED"
        case .tooManyBlocks: "more than \(REDPayload.maximumBlockCount) RED blocks in a packet; the sender is faulty"
        case .blockDoesNotFit(let age, let size):
            "a block of \(size) bytes, \(age) ticks old, exceeds RED's 1023 bytes or 16383 ticks; repeat its packet"
        }
    }
}
