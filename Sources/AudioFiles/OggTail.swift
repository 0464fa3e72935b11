/// Where the last whole page of an Ogg file ends (RFC 3533, section 6): behind it may lie what a killed program began, or
/// another program's tag, neither of which libsndfile gets over.
enum OggTail {
    /// Bytes up to there; nil where no page is found.
    static func end(_ file: ReadableFile) -> Int? { pages(file, atMost: 1).first?.end }

    /// Frames that the last page completes, at the stream's own count; 0 where that is not known.
    static func lastPageFrames(_ file: ReadableFile) -> Int {
        let positions = pages(file, atMost: 8).map(\.position).filter { $0 >= 0 }
        guard positions.count > 1, positions[0] > positions[1] else { return 0 }
        return positions[0] - positions[1]
    }

    /// The last whole pages, from the end: where each ends, and its granule position, -1 where no packet ends in it.
    private static func pages(_ file: ReadableFile, atMost count: Int) -> [(end: Int, position: Int)] {
        let longest = 27 + 255 + 255 * 255
        let start = max(0, file.byteCount - (count + 1) * longest)
        let bytes = file.bytes(at: start, count: file.byteCount - start)
        var found: [(Int, Int)] = []
        var at = bytes.count - 27
        while at >= 0, found.count < count {
            if bytes[at] == 0x4F, bytes[at...].starts(with: "OggS\0".utf8) {
                let segments = Int(bytes[at + 26])
                let head = at + 27 + segments
                if head <= bytes.count {
                    let end = bytes[at + 27..<head].reduce(head) { $0 + Int($1) }
                    let position = bytes[at + 6..<at + 14].reversed().reduce(0 as Int64) { $0 << 8 | Int64($1) }
                    if end <= bytes.count { found.append((start + end, Int(position))) }
                }
            }
            at -= 1
        }
        return found
    }
}
