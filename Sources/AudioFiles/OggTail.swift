// SPDX-License-Identifier: Apache-2.0

/// Finds the end of an Ogg file's last complete page (RFC 3533, section 6). libsndfile rejects what may follow it: an incomplete
/// page of a killed program, or another program's tag.
enum OggTail {
    /// Returns the offset of the end of the last complete page; nil if there is no page.
    static func end(_ file: ReadableFile) -> Int? { pages(file, atMost: 1).last?.end }

    /// Returns true if the last complete page is marked as its stream's last.
    static func hasLastPage(_ file: ReadableFile) -> Bool { pages(file, atMost: 1).last?.isLast ?? false }

    /// Returns the frames that the last page completes, by the stream's own count; 0 if unknown.
    static func lastPageFrames(_ file: ReadableFile) -> Int {
        let positions = pages(file, atMost: 8).compactMap(\.position).suffix(2)
        guard let last = positions.last, let before = positions.first, last > before else { return 0 }
        return last - before
    }

    /// Returns the last complete pages: the end of each, its granule position (nil if no packet ends in it), and its mark as the
    /// last.
    private static func pages(
        _ file: ReadableFile, atMost count: Int
    ) -> [(end: Int, position: Int?, isLast: Bool)] {
        let maximumPageLength = 27 + 255 + 255 * 255
        let start = max(0, file.byteCount - (count + 1) * maximumPageLength)
        var bytes = StreamBuffer(file.bytes(at: start, count: file.byteCount - start))
        var found: [(end: Int, position: Int?, isLast: Bool)] = []
        while bytes.count > 0 {
            guard case .page(let page) = OggPage.find(bytes) else {
                bytes.drop(bytes.firstIndex(of: 0x4F, from: 1))
                continue
            }
            bytes.drop(page.length)
            found.append((start + bytes.offset, page.granulePosition, page.isLast))
        }
        return found.suffix(count)
    }
}
