// SPDX-License-Identifier: Apache-2.0

/// An RTP payload of several blocks of sound: earlier ones once more, and last the packet's own (RFC 2198 §3).
///
/// Does not allocate.
package struct REDPayload: ~Escapable {
    /// One block.
    @frozen
    package struct Block: Hashable, Sendable {
        /// The payload type of its bytes, 0 to 127.
        package var payloadType: UInt8
        /// Clock-rate units by which it is older than the packet's timestamp says; 0 for the packet's own.
        package var age: Int
        /// Its range in the payload; may be empty.
        package var bytes: Range<Int>
    }

    /// Bytes of an earlier block at most, as 10 bits can say.
    package static let maximumBlockSize = 1_023
    /// The greatest age of a block, as 14 bits can say.
    package static let maximumAge = 16_383
    /// Maximum number of redundant blocks that are read. The format has no such bound; no sender uses as many.
    package static let maximumBlockCount = 16
    /// Bytes of the header of an earlier block, and of the packet's own.
    package static let headerSize = 4, ownHeaderSize = 1

    /// Number of earlier blocks; may be none.
    package let earlierCount: Int
    /// The packet's own block, which is the last.
    package let own: Block
    private let payload: RawSpan

    /// Reads the headers and checks that the blocks lie within the payload.
    @_lifetime(copy payload)
    package init(parsing payload: RawSpan) throws(REDPayloadError) {
        self.payload = payload
        var at = 0
        var held = 0
        var count = 0
        while true {
            guard at < payload.byteCount else { throw .cutHeader }
            guard payload.byte(at) & 0x80 != 0 else { break }
            guard count < Self.maximumBlockCount else { throw .tooManyBlocks }
            guard payload.byteCount - at >= Self.headerSize else { throw .cutHeader }
            held += Int(payload.bigEndian16(at + 2) & 0x3FF)
            at += Self.headerSize
            count += 1
        }
        at += Self.ownHeaderSize
        guard held <= payload.byteCount - at else { throw .cutBlock(announced: held, present: payload.byteCount - at) }
        earlierCount = count
        own = Block(
            payloadType: payload.byte(count * Self.headerSize) & 0x7F, age: 0, bytes: at + held..<payload.byteCount)
    }

    /// Calls `body` with each earlier block, in their order.
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
    /// An earlier block to write.
    @safe package struct RedundantBlock {
        /// Clock-rate units before the packet's own block.
        package var age: Int
        /// Valid while it is written.
        package var bytes: UnsafeRawBufferPointer

        var size: Int { unsafe bytes.count }

        /// A block of this age.
        package init(age: Int, bytes: UnsafeRawBufferPointer) {
            self.age = age
            unsafe self.bytes = bytes
        }

        /// Returns true if the format can say its age and length.
        package var fits: Bool {
            (0...REDPayload.maximumAge).contains(age) && size <= REDPayload.maximumBlockSize
        }
    }

    /// Writes a payload whose blocks are all of one type. Does not allocate.
    /// - Parameters:
    ///   - earlier: the oldest first; ``maximumBlockCount`` at most.
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
        var at = earlier.count * headerSize + ownHeaderSize
        for block in earlier {
            let word = 1 << 31 | Int(payloadType & 0x7F) << 24 | block.age << 10 | block.size
            payload.put(UInt32(word), at: header)
            header += headerSize
            unsafe payload.put(block.bytes.bytes, at: at)
            at += block.size
        }
        payload.put(payloadType & 0x7F, at: header)
        payload.put(own, at: at)
        return size
    }
}

/// The reason that a payload is not RED, or that blocks cannot be written as RED.
package enum REDPayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The headers reach beyond the payload.
    case cutHeader
    /// The blocks reach beyond the payload; in bytes.
    case cutBlock(announced: Int, present: Int)
    /// More than ``REDPayload/maximumBlockCount`` earlier blocks.
    case tooManyBlocks
    /// A block to write that is too old or too long; in clock-rate units and bytes.
    case blockDoesNotFit(age: Int, size: Int)

    /// One line for a log.
    package var description: String {
        switch self {
        case .cutHeader: "RED headers that reach beyond the packet; it was cut or is not RED"
        case .cutBlock(let announced, let present):
            "RED blocks of \(announced) bytes where there is room for \(present); the packet was cut or is not RED"
        case .tooManyBlocks: "more than \(REDPayload.maximumBlockCount) RED blocks in a packet; the sender is broken"
        case .blockDoesNotFit(let age, let size):
            "a block of \(size) bytes, \(age) ticks old, exceeds RED's 1023 bytes or 16383 ticks; repeat its packet"
        }
    }
}
