// SPDX-License-Identifier: Apache-2.0

/// Known frames of a stream and their byte offsets. When there are more than 4,096, every second one is removed.
struct SeekIndex {
    struct Mark: Hashable {
        let byteOffset: Int
        let frame: Int
    }

    /// The marks, ascending in both values.
    private(set) var marks: [Mark] = []
    /// The minimum distance of two marks in frames.
    private var spacing = 1 << 14
    private static let capacity = 4_096

    /// Adds a mark, unless it is too close to another. A mark that contradicts the others is ignored, because a forged stream has
    /// no order.
    mutating func note(byteOffset: Int, frame: Int) {
        var insertionIndex = marks.count
        if let last = marks.last, last.frame > frame { insertionIndex = firstIndex(behind: frame) }
        if insertionIndex > 0 {
            let before = marks[insertionIndex - 1]
            guard frame - before.frame >= spacing, byteOffset > before.byteOffset else { return }
        }
        if insertionIndex < marks.count {
            let behind = marks[insertionIndex]
            guard behind.frame - frame >= spacing, byteOffset < behind.byteOffset else { return }
        }
        marks.insert(Mark(byteOffset: byteOffset, frame: frame), at: insertionIndex)
        guard marks.count > Self.capacity else { return }
        marks = marks.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        spacing *= 2
    }

    /// Returns the last mark at or before a frame.
    func last(upTo frame: Int) -> Mark? {
        let index = firstIndex(behind: frame)
        return index > 0 ? marks[index - 1] : nil
    }

    /// Returns the first mark after a frame.
    func first(behind frame: Int) -> Mark? {
        let index = firstIndex(behind: frame)
        return index < marks.count ? marks[index] : nil
    }

    private func firstIndex(behind frame: Int) -> Int {
        var (low, high) = (0, marks.count)
        while low < high {
            let middle = (low + high) / 2
            if marks[middle].frame > frame { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
