import AudioFiles

/// The header of an ADTS frame (ISO/IEC 14496-3, 1.A.3.2).
struct ADTSHeader {
    /// Seven bytes, nine with a check sum.
    static let byteCount = 7
    static let sampleRates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]

    /// Of header and packet, in bytes.
    let frameByteCount: Int
    /// Object type, rate and channels: alike in all frames of a stream.
    let stream: UInt32
    /// Hertz; a decoder may double it.
    let sampleRate: Int

    /// Nil where the bytes, at least seven, are no header.
    init?(_ bytes: Slice<UnsafeRawBufferPointer>) {
        guard bytes.count >= Self.byteCount else { return nil }
        let b = bytes.startIndex
        guard bytes[b] == 0xFF, bytes[b + 1] & 0xF6 == 0xF0 else { return nil }
        let rate = Int(bytes[b + 2] >> 2 & 15)
        let length = Int(bytes[b + 3] & 3) << 11 | Int(bytes[b + 4]) << 3 | Int(bytes[b + 5] >> 5)
        let own = bytes[b + 1] & 1 == 1 ? 7 : 9
        guard rate < Self.sampleRates.count, length > own else { return nil }
        frameByteCount = length
        stream = UInt32(bytes[b + 2] & 0xFD) << 8 | UInt32(bytes[b + 3] & 0xC0)
        sampleRate = Self.sampleRates[rate]
    }
}

/// Finds the frames of an ADTS file by their headers.
enum ADTSScanner {
    private static let windowByteCount = 1 << 18
    private static let maximumFaults = 1_000

    /// Whether the file begins, behind ID3 tags, with two ADTS frames of one stream, or is one such frame.
    static func recognises(_ file: ReadableFile) -> Bool {
        let start = soundOffset(file)
        let bytes = file.bytes(at: start, count: 8_192 + ADTSHeader.byteCount)
        return bytes.withUnsafeBytes { bytes in
            guard let first = ADTSHeader(bytes[...]), start + first.frameByteCount <= file.byteCount else {
                return false
            }
            let rest = bytes.dropFirst(first.frameByteCount)
            return rest.isEmpty || ADTSHeader(rest)?.stream == first.stream
        }
    }

    /// Where the sound begins: behind ID3v2 tags, of which there may be several.
    static func soundOffset(_ file: ReadableFile) -> Int {
        var offset = 0
        for _ in 0..<8 {
            let b = file.bytes(at: offset, count: 10)
            guard b.count == 10, b.starts(with: "ID3".utf8), b[6...9].allSatisfy({ $0 < 128 }) else { break }
            let size = Int(b[6]) << 21 | Int(b[7]) << 14 | Int(b[8]) << 7 | Int(b[9])
            offset += 10 + size + (b[5] & 0x10 == 0 ? 0 : 10)
        }
        return offset
    }

    /// All whole frames, headers included. What is no frame is left out, with a fault at the frame behind it; a frame that
    /// the file's end has cut is left out without one, since a recorder that was killed leaves it.
    /// - Returns: no packets where there is no frame.
    static func scan(_ file: ReadableFile) -> PacketTable {
        var table = PacketTable()
        var offset = soundOffset(file)
        var window: [UInt8] = []
        var windowStart = offset
        var stream: UInt32?
        var junk: Int?  // where what is no frame began
        while offset + ADTSHeader.byteCount <= file.byteCount {
            // A frame and the next one's header lie in the window.
            if offset + 8_192 + ADTSHeader.byteCount > windowStart + window.count,
                windowStart + window.count < file.byteCount
            {
                windowStart = offset
                window = file.bytes(at: offset, count: windowByteCount)
                if window.count < ADTSHeader.byteCount { break }
            }
            let size = window.withUnsafeBytes { bytes in
                frame(bytes.dropFirst(offset - windowStart), left: file.byteCount - offset, stream, sure: junk == nil)
            }
            if let size {
                if let junk, table.faults.count < maximumFaults {
                    table.faults[table.count] = "bytes \(junk) to \(offset - 1) are no ADTS frames"
                }
                junk = nil
                table.append(offset: offset, size: size.byteCount)
                stream = stream ?? size.stream
                offset += size.byteCount
            } else {
                if junk == nil { junk = offset }
                offset += 1
            }
        }
        return table
    }

    /// The frame at the beginning of `bytes`, if it is whole. Behind junk it must be of the same stream, and another must
    /// follow it or the file's end.
    private static func frame(
        _ bytes: Slice<UnsafeRawBufferPointer>, left: Int, _ stream: UInt32?, sure: Bool
    ) -> (byteCount: Int, stream: UInt32)? {
        guard let header = ADTSHeader(bytes), header.frameByteCount <= left else { return nil }
        if !sure {
            guard stream == nil || stream == header.stream else { return nil }
            let rest = bytes.dropFirst(header.frameByteCount)
            guard rest.isEmpty || ADTSHeader(rest)?.stream == header.stream else { return nil }
        }
        return (header.frameByteCount, header.stream)
    }
}
