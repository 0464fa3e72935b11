// SPDX-License-Identifier: Apache-2.0

/// A verified page of an Ogg stream (RFC 3533).
struct OggPage {
    let isContinued: Bool
    let isFirst: Bool
    let isLast: Bool
    /// The granule position; nil if no packet ends on the page.
    let granulePosition: Int?
    let serial: Int
    let sequence: Int
    /// The lengths of the segments' packets or parts, and whether a packet ends with each.
    let pieces: [(length: Int, isWhole: Bool)]
    /// The length in bytes of the page's header, after which the first piece begins.
    let headerLength: Int
    /// The length of the page in bytes.
    let length: Int

    /// The result of a search for a page.
    enum Found {
        case page(OggPage)
        /// The search needs at least this number of bytes.
        case needs(Int)
        /// No page begins here.
        case none
        /// A page whose checksum is wrong.
        case damaged(length: Int)
    }

    static func find(_ bytes: StreamBuffer) -> Found {
        guard bytes.count >= 27 else { return .needs(27) }
        guard bytes.begins(with: "OggS"), bytes[4] == 0, bytes[5] < 8 else { return .none }
        let count = Int(bytes[26])
        guard bytes.count >= 27 + count else { return .needs(27 + count) }
        let body = (0..<count).reduce(0) { $0 + Int(bytes[27 + $1]) }
        let length = 27 + count + body
        guard bytes.count >= length else { return .needs(length) }
        guard checksum(bytes, length) == UInt32(truncatingIfNeeded: bytes.littleEndian(22, 4)) else {
            return .damaged(length: length)
        }
        return .page(OggPage(bytes, count, length))
    }

    private init(_ bytes: StreamBuffer, _ count: Int, _ length: Int) {
        let flags = bytes[5]
        isContinued = flags & 1 != 0
        isFirst = flags & 2 != 0
        isLast = flags & 4 != 0
        let granule = Int64(truncatingIfNeeded: bytes.littleEndian(6, 8))
        granulePosition = granule >= 0 && granule < 1 << 48 ? Int(granule) : nil
        serial = bytes.littleEndian(14, 4)
        sequence = bytes.littleEndian(18, 4)
        headerLength = 27 + count
        self.length = length
        var pieces: [(length: Int, isWhole: Bool)] = []
        var piece = 0
        for i in 0..<count {
            piece += Int(bytes[27 + i])
            if bytes[27 + i] < 255 {
                pieces.append((piece, true))
                piece = 0
            }
        }
        if count > 0, bytes[26 + count] == 255 { pieces.append((piece, false)) }
        self.pieces = pieces
    }

    /// Returns the page that ends an Opus stream of headers only: its packet is no longer than the pre-skip.
    static func emptyOpusEnd(behind headers: StreamBuffer) -> [UInt8]? {
        guard case .page(let first) = find(headers),
            let codec = OggCodec(first: headers.copy(first.headerLength..<first.length)), codec.preSkip <= 960
        else { return nil }
        var rest = headers
        var count = 0
        while case .page(let page) = find(rest) {
            count += 1
            rest.drop(page.length)
        }
        func little(_ value: Int, _ length: Int) -> [UInt8] { (0..<length).map { UInt8(value >> (8 * $0) & 0xFF) } }
        // 20 ms without coded sound.
        let packet: [UInt8] = [codec.format.channelCount == 1 ? 0xF8 : 0xFC]
        var page =
            Array("OggS".utf8) + [0, 4] + little(codec.preSkip, 8) + little(first.serial, 4) + little(count, 4)
            + [0, 0, 0, 0, 1, UInt8(packet.count)] + packet
        page.replaceSubrange(22..<26, with: little(Int(checksum(StreamBuffer(page), page.count)), 4))
        return page
    }

    /// Returns the CRC with polynomial 04C11DB7, most significant bit first, initial value 0; the checksum field counts as 0.
    private static func checksum(_ bytes: StreamBuffer, _ length: Int) -> UInt32 {
        var sum: UInt32 = 0
        for i in 0..<length {
            let byte = (22..<26).contains(i) ? 0 : bytes[i]
            sum = sum << 8 ^ table[Int(UInt8(truncatingIfNeeded: sum >> 24) ^ byte)]
        }
        return sum
    }

    private static let table: [UInt32] = (0..<256).map { n in
        (0..<8).reduce(UInt32(n) << 24) { sum, _ in sum << 1 ^ (sum >> 31 == 1 ? 0x04C1_1DB7 : 0) }
    }
}
