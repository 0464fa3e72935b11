// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles

/// Properties of an MP4 file's boxes that libavformat does not expose (ISO/IEC 14496-12): exact edits, and fragments.
struct MovieBoxes {
    /// The beginning and length of a track's sound, from its first edit that is not empty.
    struct Edit: Equatable {
        /// The beginning of the sound, in ticks of the media's clock.
        var start: Int
        /// The length of the sound, in ticks of the movie's clock; 0 for the rest of the media.
        var duration: Int
    }

    /// True if the file has a `moov` box. A file that was cut off may have none.
    private(set) var hasIndex = false
    /// Ticks per second of the movie's clock; 0 if it is not declared.
    private(set) var timescale = 0
    /// True if the `moov` box announces fragments.
    private(set) var isFragmented = false
    /// True if the file has chapters: a list (`chpl`), or a track that another one refers to (QuickTime File Format, "Chapter
    /// Lists").
    private(set) var hasChapters = false
    /// The edits by track number.
    private(set) var edits: [Int: Edit] = [:]

    private let file: ReadableFile
    private var boxesLeft = 20_000

    /// Reads the first `moov` box. Values that are missing or invalid stay 0.
    init(_ file: ReadableFile) {
        self.file = file
        walk(0..<file.byteCount) { (self, name, range) in
            guard name == "moov", !self.hasIndex else { return !self.hasIndex }
            self.hasIndex = true
            self.movie(range)
            return false
        }
    }

    private mutating func movie(_ range: Range<Int>) {
        walk(range) { (self, name, range) in
            switch name {
            case "mvhd":
                let bytes = self.file.bytes(at: range.lowerBound, count: min(32, range.count))
                self.timescale = Self.number(bytes, bytes.first == 1 ? 20 : 12, 4) ?? 0
            case "mvex": self.isFragmented = true
            case "trak": self.track(range)
            case "udta": self.hasChapters = self.hasBox("chpl", range) || self.hasChapters
            default: break
            }
            return true
        }
    }

    private mutating func track(_ range: Range<Int>) {
        var number = 0
        var edit: Edit?
        walk(range) { (self, name, range) in
            if name == "tkhd" {
                let bytes = self.file.bytes(at: range.lowerBound, count: min(32, range.count))
                number = Self.number(bytes, bytes.first == 1 ? 20 : 12, 4) ?? 0
            } else if name == "tref" {
                self.hasChapters = self.hasBox("chap", range) || self.hasChapters
            } else if name == "edts" {
                self.walk(range) { (self, name, range) in
                    guard name == "elst" else { return true }
                    edit = Self.edit(self.file.bytes(at: range.lowerBound, count: min(4_096, range.count)))
                    return false
                }
            }
            return true
        }
        if let edit { edits[number] = edit }
    }

    private mutating func hasBox(_ wanted: String, _ range: Range<Int>) -> Bool {
        var found = false
        walk(range) { (_, name, _) in
            found = name == wanted
            return !found
        }
        return found
    }

    /// Returns the first edit that is not empty. Its length is used only if no other such edit follows.
    private static func edit(_ bytes: [UInt8]) -> Edit? {
        let wide = bytes.first == 1
        let width = wide ? 8 : 4
        var edit: Edit?
        var at = 8
        while at + 2 * width + 4 <= bytes.count {
            guard let duration = number(bytes, at, width), let start = number(bytes, at + width, width) else { break }
            at += 2 * width + 4
            // −1 marks an empty edit.
            guard start < (wide ? Int.max : Int(Int32.max)) else { continue }
            if edit != nil {
                edit?.duration = 0
                break
            }
            edit = Edit(start: start, duration: !wide && duration == Int(UInt32.max) ? 0 : duration)
        }
        return edit
    }

    /// Returns a number of `width` bytes. One too large for Int becomes Int.max.
    private static func number(_ bytes: [UInt8], _ at: Int, _ width: Int) -> Int? {
        guard at >= 0, at + width <= bytes.count else { return nil }
        return Int(clamping: bytes[at..<at + width].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// Calls `body` with each box's name and content until it returns false.
    private mutating func walk(
        _ range: Range<Int>,
        _ body: (inout MovieBoxes, String, Range<Int>) -> Bool
    ) {
        var at = range.lowerBound
        while at + 8 <= range.upperBound, boxesLeft > 0 {
            boxesLeft -= 1
            let head = file.bytes(at: at, count: 16)
            guard head.count >= 8, var size = Self.number(head, 0, 4) else { return }
            var headerSize = 8
            if size == 1 {
                headerSize = 16
                size = Self.number(head, 8, 8) ?? 0
            } else if size == 0 {
                size = range.upperBound - at
            }
            guard size >= headerSize, size <= range.upperBound - at else { return }
            let name = String(decoding: head[4..<8], as: UTF8.self)
            if !body(&self, name, at + headerSize..<at + size) { return }
            at += size
        }
    }
}
