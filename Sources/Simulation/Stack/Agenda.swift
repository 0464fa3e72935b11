// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Future work, ordered by its time. Work for the same time is in the order of planning.
struct Agenda {
    private struct Entry {
        let time: HostTime
        let order: UInt64
        let body: () -> Void
    }

    private var entries: [Entry] = []
    private var plannedCount: UInt64 = 0

    var count: Int { entries.count }
    /// The time of the first entry; nil if there is none.
    var next: HostTime? { entries.first?.time }

    mutating func add(_ time: HostTime, _ body: @escaping () -> Void) {
        entries.append(Entry(time: time, order: plannedCount, body: body))
        plannedCount += 1
        var child = entries.count - 1
        while child > 0, isBefore(child, (child - 1) / 2) {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Removes the first entry and returns its work; nil if none is due.
    mutating func removeFirst(dueBy now: HostTime) -> (() -> Void)? {
        guard let first = entries.first, first.time <= now else { return nil }
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        var parent = 0
        while true {
            var earliest = parent
            for child in 2 * parent + 1...2 * parent + 2 where child < entries.count && isBefore(child, earliest) {
                earliest = child
            }
            if earliest == parent { break }
            entries.swapAt(parent, earliest)
            parent = earliest
        }
        return first.body
    }

    private func isBefore(_ a: Int, _ b: Int) -> Bool {
        (entries[a].time, entries[a].order) < (entries[b].time, entries[b].order)
    }
}
