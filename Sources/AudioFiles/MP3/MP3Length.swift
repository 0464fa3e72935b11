// SPDX-License-Identifier: Apache-2.0

/// Finds the length of an MP3 for which libsndfile finds a wrong one: a file with a variable bit rate and no frame count in its
/// first frame, such as from a pipe, or a file that is longer than its first frame says, such as two files in a row.
struct MP3Length {
    /// The bytes after the stated end of the sound that are not searched for more sound: most are tags.
    private static let tailByteCount = 1 << 13
    /// The bytes of the shortest frame: Layer III at 8 kb/s and 24 kHz.
    private static let shortestFrame = 24

    /// The file with its length in a Xing header, which is in the first frame or added before it; nil if the file needs no
    /// correction.
    private(set) var corrected: PatchedFileView?
    /// True if the file is shorter than its first frame declares.
    private(set) var isCutOff = false

    init(_ file: ReadableFile) {
        let start = ID3Prefix.length(file)
        let head = file.bytes(at: start, count: 4_096)
        let bytes = StreamBuffer(head)
        guard let first = FrameHeader(bytes, at: 0), first.codec == .mp3 else { return }
        guard let header = VBRHeader(bytes, first) else {
            let (frames, isVariable) = Self.count(file, from: start, like: first)
            if isVariable { corrected = Self.part(file, from: start, head, frames) }
            return
        }
        let stated = header.packetCount ?? 0
        let end = start + (header.byteCount ?? 0)
        isCutOff = end > file.byteCount + Self.shortestFrame
        // A stated number of frames for which the file is too small is damaged or forged.
        let isPossible = !isCutOff && stated <= (file.byteCount - start) / Self.shortestFrame
        var frames = isPossible ? stated : 0
        if frames == 0 || end < file.byteCount - Self.tailByteCount {
            frames = max(frames, Self.count(file, from: start + first.length, like: first).frames)
        }
        guard frames > 0 else { return }
        // libsndfile knows only Xing's header.
        guard let offset = header.countOffset else {
            corrected = Self.part(file, from: start + first.length, head, frames)
            return
        }
        guard frames != stated || isCutOff else { return }
        // libsndfile would complain about a wrong number of bytes.
        let numbers =
            Self.bigEndian(frames) + (header.byteCount != nil ? Self.bigEndian(file.byteCount - start) : [])
        corrected = PatchedFileView(file, byteCount: file.byteCount, patch: numbers, at: start + offset)
    }

    /// Returns the file from an offset on, after a frame with Xing's header.
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

    /// Counts the complete frames of MPEG audio that match the first frame, and tells whether their lengths differ. Skips the
    /// bytes between frames as ``FramedParser`` does: a tag by its length, other bytes up to ``FramedParser/searchLimit``.
    private static func count(
        _ file: ReadableFile, from start: Int, like first: FrameHeader
    ) -> (frames: Int, isVariable: Bool) {
        var (at, count, isVariable, skipped) = (start, 0, false, 0)
        var (piece, pieceStart) = (StreamBuffer([]), start)
        while at <= file.byteCount - 4, skipped <= FramedParser.searchLimit {
            // A frame and the next header must lie in the piece.
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

    /// Returns the complete frame at an index; nil if there is none. Unless `isSure`, another frame or the end of the file must
    /// follow.
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
