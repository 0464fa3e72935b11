/// The length of an MP3 whose bit rate varies and whose first frame does not say how many follow, as one from a pipe: players
/// reckon it from that frame, and may be far out.
enum MP3Length {
    /// The file with its length told, by a frame with Xing's header before its first; nil where it needs none, or has a gap.
    static func told(_ file: ReadableFile) -> FilePart? {
        let start = ID3Prefix.length(file)
        let head = file.bytes(at: start, count: 4_096)
        let bytes = StreamBuffer(head)
        guard let first = FrameHeader(bytes, at: 0), first.codec == .mp3, VBRHeader(bytes, first) == nil,
            let count = variableCount(file, from: start, first)
        else { return nil }
        var frame = [UInt8](head[0..<4])
        frame[1] |= 1  // no check sum
        frame[2] = frame[2] & 0x0D | 0xA0  // 160 kb/s, or 96: room enough at each rate
        guard let header = FrameHeader(StreamBuffer(frame), at: 0) else { return nil }
        frame += [UInt8](repeating: 0, count: header.sideLength)
        frame += Array("Xing".utf8) + [0, 0, 0, 1]
        for shift in [24, 16, 8, 0] { frame.append(UInt8(truncatingIfNeeded: count >> shift)) }
        frame += [UInt8](repeating: 0, count: max(0, header.length - frame.count))
        return FilePart(file, from: start, byteCount: file.byteCount, prefix: frame)
    }

    /// Frames of MPEG audio, where not all are equally long.
    private static func variableCount(_ file: ReadableFile, from start: Int, _ first: FrameHeader) -> Int? {
        var (at, count, isVariable) = (start, 0, false)
        var (piece, pieceStart) = (StreamBuffer([]), start)
        while at + 4 <= file.byteCount {
            if at + FrameHeader.byteCount > pieceStart + piece.count {
                (piece, pieceStart) = (StreamBuffer(file.bytes(at: at, count: 1 << 20)), at)
            }
            guard let frame = FrameHeader(piece, at: at - pieceStart), frame.continues(first) else { break }
            at += frame.length
            if at > file.byteCount { break }
            count += 1
            if abs(frame.length - first.length) > 1 { isVariable = true }
        }
        // What stands behind may be a tag; more is a gap, and nobody knows what comes after it.
        return isVariable && file.byteCount - at < 1 << 16 ? count : nil
    }
}
