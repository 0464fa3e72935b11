// SPDX-License-Identifier: Apache-2.0

/// Known positions of a stream: frames and the bytes at which they begin. Bounded: if there are too many, every second one is
/// removed.
struct SeekIndex {
    struct Mark: Hashable {
        let byteOffset: Int
        let frame: Int
    }

    /// Ascending in both.
    private(set) var marks: [Mark] = []
    /// Frames that two are apart at least.
    private var spacing = 1 << 14
    private static let capacity = 4_096

    /// Notes a place. One that contradicts those that are known is left out, for a lying stream has no order.
    mutating func note(byteOffset: Int, frame: Int) {
        var at = marks.count
        if let last = marks.last, last.frame > frame { at = firstIndex(behind: frame) }
        if at > 0 {
            let before = marks[at - 1]
            guard frame - before.frame >= spacing, byteOffset > before.byteOffset else { return }
        }
        if at < marks.count {
            let behind = marks[at]
            guard behind.frame - frame >= spacing, byteOffset < behind.byteOffset else { return }
        }
        marks.insert(Mark(byteOffset: byteOffset, frame: frame), at: at)
        guard marks.count > Self.capacity else { return }
        marks = marks.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        spacing *= 2
    }

    /// The last place at a frame or before it.
    func last(upTo frame: Int) -> Mark? {
        let index = firstIndex(behind: frame)
        return index > 0 ? marks[index - 1] : nil
    }

    /// The first place behind a frame.
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
