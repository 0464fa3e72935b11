// SPDX-License-Identifier: Apache-2.0

/// Finds the end of an Ogg file's last whole page (RFC 3533, section 6): behind it may lie a page that a killed program began, or
/// another program's tag, neither of which libsndfile accepts.
enum OggTail {
    /// Bytes up to there; nil if no page is found.
    static func end(_ file: ReadableFile) -> Int? { pages(file, atMost: 1).last?.end }

    /// Frames that the last page completes, at the stream's own count; 0 if that is not known.
    static func lastPageFrames(_ file: ReadableFile) -> Int {
        let positions = pages(file, atMost: 8).compactMap(\.position).suffix(2)
        guard let last = positions.last, let before = positions.first, last > before else { return 0 }
        return last - before
    }

    /// The last whole pages: where each ends, and its granule position, nil if no packet ends in it.
    private static func pages(_ file: ReadableFile, atMost count: Int) -> [(end: Int, position: Int?)] {
        let longest = 27 + 255 + 255 * 255
        let start = max(0, file.byteCount - (count + 1) * longest)
        var bytes = StreamBuffer(file.bytes(at: start, count: file.byteCount - start))
        var found: [(end: Int, position: Int?)] = []
        while bytes.count > 0 {
            guard case .page(let page) = OggPage.find(bytes) else {
                bytes.drop(bytes.firstIndex(of: 0x4F, from: 1))
                continue
            }
            bytes.drop(page.length)
            found.append((start + bytes.offset, page.granulePosition))
        }
        return found.suffix(count)
    }
}
