// SPDX-License-Identifier: Apache-2.0

/// A model of ``AudioRing``'s behaviour with an array of positions.
struct RingModel {
    let capacity: Int
    private(set) var held: [Int] = []
    private(set) var offered = 0
    /// The position after the last frame that was read or discarded.
    private(set) var end = 0
    private var overrun = false

    init(capacity: Int) { self.capacity = capacity }

    mutating func write(_ frameCount: Int) -> Bool {
        guard held.count + frameCount <= capacity, !overrun || held.isEmpty else {
            skip(frameCount)
            return false
        }
        overrun = false
        held += offered..<offered + frameCount
        offered += frameCount
        return true
    }

    mutating func skip(_ frameCount: Int) {
        guard frameCount > 0 else { return }
        offered += frameCount
        overrun = true
    }

    mutating func read(_ frameCount: Int, holdingAtMost bound: Int) -> [Int] {
        if held.count > bound { take(overrun ? held.count : held.count - bound) }
        return take(min(frameCount, held.count))
    }

    @discardableResult
    private mutating func take(_ count: Int) -> [Int] {
        let taken = Array(held.prefix(count))
        held.removeFirst(count)
        end = taken.last.map { $0 + 1 } ?? end
        return taken
    }
}
