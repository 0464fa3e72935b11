// SPDX-License-Identifier: Apache-2.0

/// The length of an MP3 where libsndfile would not find it: one whose bit rate varies and whose first frame does not say how many
/// follow, as one from a pipe, of which players reckon it from that frame; and one with more in it than its first frame says,
/// such as two files in a row.
enum MP3Length {
    /// Bytes behind the sound that a header tells of in which no more of it is looked for: tags mostly.
    private static let tailByteCount = 1 << 13
    /// Bytes of the shortest frame: Layer III at 8 kb/s and 24 kHz.
    private static let shortestFrame = 24

    /// The file with its length told, by Xing's header in its first frame or one before it; nil if it needs none.
    static func told(_ file: ReadableFile) -> PatchedFileView? {
        let start = ID3Prefix.length(file)
        let head = file.bytes(at: start, count: 4_096)
        let bytes = StreamBuffer(head)
        guard let first = FrameHeader(bytes, at: 0), first.codec == .mp3 else { return nil }
        guard let header = VBRHeader(bytes, first) else {
            let (frames, isVariable) = count(file, from: start, like: first)
            return isVariable ? part(file, from: start, head, frames) : nil
        }
        let stated = header.packetCount ?? 0
        // A number that the file has no room for is damaged or forged.
        let isPossible = stated <= (file.byteCount - start) / shortestFrame
        var frames = isPossible ? stated : 0
        if frames == 0 || start + (header.byteCount ?? 0) < file.byteCount - tailByteCount {
            frames = max(frames, count(file, from: start + first.length, like: first).frames)
        }
        guard frames > 0 else { return nil }
        // libsndfile knows no other header than Xing's.
        guard let offset = header.countOffset else { return part(file, from: start + first.length, head, frames) }
        guard frames != stated else { return nil }
        // It would complain of a number of bytes that is not the file's.
        let numbers = bigEndian(frames) + (header.byteCount != nil ? bigEndian(file.byteCount - start) : [])
        return PatchedFileView(file, byteCount: file.byteCount, patch: numbers, at: start + offset)
    }

    /// The file from a place on, behind a frame with Xing's header.
    private static func part(
        _ file: ReadableFile, from start: Int, _ head: [UInt8], _ frames: Int
    ) -> PatchedFileView? {
        var frame = [UInt8](head[0..<4])
        frame[1] |= 1  // no check sum
        frame[2] = frame[2] & 0x0D | 0xA0  // 160 kb/s, or 96: room enough at each rate
        guard let header = FrameHeader(StreamBuffer(frame), at: 0) else { return nil }
        frame += [UInt8](repeating: 0, count: header.sideLength)
        frame += Array("Xing".utf8) + [0, 0, 0, 1] + bigEndian(frames)
        frame += [UInt8](repeating: 0, count: max(0, header.length - frame.count))
        return PatchedFileView(file, from: start, byteCount: file.byteCount, prefix: frame)
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        let word = UInt32(clamping: number)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) }
    }

    /// Whole frames of MPEG audio like the first, and whether not all are equally long. What lies between them is passed over as
    /// ``FramedParser`` does it: a tag by its length, up to ``FramedParser/searchLimit`` bytes of anything else.
    private static func count(
        _ file: ReadableFile, from start: Int, like first: FrameHeader
    ) -> (frames: Int, isVariable: Bool) {
        var (at, count, isVariable, skipped) = (start, 0, false, 0)
        var (piece, pieceStart) = (StreamBuffer([]), start)
        while at <= file.byteCount - 4, skipped <= FramedParser.searchLimit {
            // A frame and the next one's header lie in the piece.
            if at + 4_096 > pieceStart + piece.count, pieceStart + piece.count < file.byteCount {
                (piece, pieceStart) = (StreamBuffer(file.bytes(at: at, count: 1 << 20)), at)
            }
            let index = at - pieceStart
            guard index <= piece.count - 4 else { break }  // cannot be read
            if let frame = frame(piece, at: index, left: file.byteCount - at, like: first, isSure: skipped == 0) {
                at += frame.length
                count += 1
                skipped = 0
                if abs(frame.length - first.length) > 1 { isVariable = true }
            } else if skipped == 0, let tag = FramedParser.tagLength(StreamBuffer(file.bytes(at: at, count: 32))) {
                at += tag
            } else {
                let next = piece.firstIndex(of: 0xFF, from: index + 1) - index
                at += next
                skipped += next
            }
        }
        return (count, isVariable)
    }

    /// Returns the complete frame at an index. An uncertain one must be followed by another or by the end of the file.
    private static func frame(
        _ bytes: StreamBuffer, at index: Int, left: Int, like first: FrameHeader, isSure: Bool
    ) -> FrameHeader? {
        guard let frame = FrameHeader(bytes, at: index), frame.continues(first), frame.length <= left else {
            return nil
        }
        if isSure || frame.length == left { return frame }
        return FrameHeader(bytes, at: index + frame.length)?.continues(first) == true ? frame : nil
    }
}
