// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Updates the length in the header of a FLAC file during writing; the encoder writes it only at the end.
struct FLACLength {
    /// The number of frames in the file, by the header as last updated.
    private(set) var framesWritten = 0
    private var blockFrames = 0
    private var otherBits: UInt64 = 0
    private static let offset: off_t = 18  // the word that ends in the 36 bits of the length

    /// Updates the header after a write.
    /// - Parameter framesGiven: all frames given to the encoder.
    mutating func update(_ descriptor: CInt, framesGiven: Int) {
        if blockFrames == 0, !readHeader(descriptor) { return }
        // The encoder writes a block after the first frame of the next.
        let completeFrames = max(0, framesGiven - 1) / blockFrames * blockFrames
        guard completeFrames != framesWritten else { return }
        framesWritten = completeFrames
        var word = (otherBits | UInt64(completeFrames) & 0xF_FFFF_FFFF).bigEndian
        pwrite(descriptor, &word, 8, Self.offset)
    }

    private mutating func readHeader(_ descriptor: CInt) -> Bool {
        guard
            let info = FLACStreamInfo({ at, count in
                var bytes = [UInt8](repeating: 0, count: count)
                return pread(descriptor, &bytes, count, off_t(at)) == count ? bytes : []
            }), info.offset == 0
        else { return false }
        blockFrames = info.largestBlock
        otherBits = info.word & ~0xF_FFFF_FFFF
        return blockFrames > 0
    }
}

/// The STREAMINFO block of a FLAC file (RFC 9639, section 8.2).
struct FLACStreamInfo {
    /// The offset of `fLaC`, which follows a tag if there is one.
    let offset: Int
    let smallestBlock: Int
    let largestBlock: Int
    /// The sample rate, channels, bits and length as stored.
    let word: UInt64

    /// The number of frames; 0 if the encoder did not know it.
    var frameCount: Int { Int(word & 0xF_FFFF_FFFF) }
    var bitsPerSample: Int { Int(word >> 36 & 0x1F) + 1 }

    init?(_ read: (_ offset: Int, _ count: Int) -> [UInt8], at offset: Int = 0) {
        let head = read(offset, 26)
        guard head.count == 26, head.starts(with: "fLaC".utf8), head[4] & 0x7F == 0 else { return nil }
        self.offset = offset
        smallestBlock = Int(head[8]) << 8 | Int(head[9])
        largestBlock = Int(head[10]) << 8 | Int(head[11])
        word = head[18..<26].reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// Finds the length of a FLAC file whose header lacks it, from its last complete frame (RFC 9639, section 9).
enum FLACTail {
    /// The fewest bytes of a FLAC frame: a header of six, a channel of one value in 8 bits, and a checksum of two.
    private static let minimumFrameByteCount = 10

    /// Returns the maximum number of frames that a file of this size can hold. A forged header may declare more.
    static func maximumFrameCount(_ file: ReadableFile) -> Int {
        let block = FLACStreamInfo(file.bytes, at: ID3Prefix.length(file))?.largestBlock ?? 0
        return (file.byteCount / minimumFrameByteCount + 1) * (block > 0 ? block : Int(UInt16.max))
    }

    /// Returns the file up to its last complete frame, with the length in its header; nil if no frame is found.
    static func whole(_ file: ReadableFile) -> PatchedFileView? {
        guard let info = FLACStreamInfo(file.bytes, at: ID3Prefix.length(file)) else { return nil }
        // An uncompressed frame is a little longer than its samples.
        let reach = max(1 << 16, 2 * (info.largestBlock * 8 * 4 + 64))
        let start = max(info.offset + 42, file.byteCount - reach)
        let bytes = file.bytes(at: start, count: file.byteCount - start)
        var at = bytes.count - 6
        while at >= 0 {
            if bytes[at] == 0xFF, bytes[at + 1] & 0xFE == 0xF8,
                let (first, count) = frame(bytes[at...], blockFrames: info.largestBlock),
                first + count <= maximumFrameCount(file)
            {
                // If the last frame is incomplete, the file ends before that frame.
                let isWhole = crc16(bytes[at...]) == 0
                let word = info.word & ~0xF_FFFF_FFFF | UInt64(isWhole ? first + count : first) & 0xF_FFFF_FFFF
                let patch = (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) }
                return PatchedFileView(
                    file, byteCount: isWhole ? file.byteCount : start + at, patch: patch, at: info.offset + 18)
            }
            at -= 1
        }
        return nil
    }

    /// Returns a frame's first sample and number of samples by its header; nil if the header is invalid.
    private static func frame(_ bytes: ArraySlice<UInt8>, blockFrames: Int) -> (Int, Int)? {
        let b = Array(bytes.prefix(16))
        guard b.count >= 6, b[2] >> 4 != 0, b[2] & 0xF != 0xF, b[3] >> 4 <= 10, b[3] & 1 == 0 else { return nil }
        // The frame's number is coded as in UTF-8.
        let length = max(1, (~b[4]).leadingZeroBitCount)
        guard b[4] & 0xC0 != 0x80, length <= 7, b.count > 4 + length else { return nil }
        var number = length == 1 ? Int(b[4]) : length == 7 ? 0 : Int(b[4]) & (0x7F >> length)
        for i in 1..<max(1, length) {
            guard b[4 + i] & 0xC0 == 0x80 else { return nil }
            number = number << 6 | Int(b[4 + i]) & 0x3F
        }
        var at = 4 + length
        func next(_ count: Int) -> Int? {
            guard b.count >= at + count else { return nil }
            defer { at += count }
            return b[at..<at + count].reduce(0) { $0 << 8 | Int($1) }
        }
        let code = Int(b[2] >> 4)
        let size: Int
        switch code {
        case 1: size = 192
        case 2...5: size = 576 << (code - 2)
        case 6: guard let value = next(1) else { return nil }; size = value + 1
        case 7: guard let value = next(2) else { return nil }; size = value + 1
        default: size = 256 << (code - 8)
        }
        switch b[2] & 0xF {
        case 12: _ = next(1)
        case 13, 14: _ = next(2)
        default: break
        }
        guard b.count > at, crc8(b[0..<at]) == b[at] else { return nil }
        return (b[1] & 1 == 1 ? number : number * blockFrames, size)
    }

    private static func crc8(_ bytes: ArraySlice<UInt8>) -> UInt8 {
        bytes.reduce(0) { sum, byte in
            (0..<8).reduce(sum ^ byte) { value, _ in value & 0x80 != 0 ? value << 1 ^ 0x07 : value << 1 }
        }
    }

    private static func crc16(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        bytes.reduce(0) { sum, byte in
            (0..<8).reduce(sum ^ UInt16(byte) << 8) { value, _ in value & 0x8000 != 0 ? value << 1 ^ 0x8005 : value << 1
            }
        }
    }
}
