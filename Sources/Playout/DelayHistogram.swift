// SPDX-License-Identifier: Apache-2.0

/// Counts of packets by delay, in rows that can be taken out again, and the sum of the rows that count.
///
/// A bin is 0.13 ms, its number any integer; as all that is held at a time lies within 4,032 bins (524 ms), bins are
/// found by their number's last 12 bits and nothing ever moves. Groups of 64 bins are summed too, so that a quantile
/// takes some hundred steps at most. All but `init` is render-safe.
struct DelayHistogram: ~Copyable {
    /// Seconds.
    static var binWidth: Double { @_noLocks get { 0.000_13 } }
    /// Bins that may be in use at a time.
    static var span: Int { @_noLocks get { 4_032 } }

    private static var binCount: Int { @_noLocks get { 4_096 } }
    private let rows: UnsafeMutablePointer<UInt16>
    private let sums: UnsafeMutablePointer<Int32>  // of the rows that count
    private let groups: UnsafeMutablePointer<Int32>

    init(rowCount: Int) {
        rows = .allocate(capacity: rowCount * Self.binCount)
        rows.initialize(repeating: 0, count: rowCount * Self.binCount)
        sums = .allocate(capacity: Self.binCount + Self.binCount / 64)
        sums.initialize(repeating: 0, count: Self.binCount + Self.binCount / 64)
        groups = sums + Self.binCount
    }

    deinit {
        rows.deallocate()
        sums.deallocate()
    }

    /// Adds one to a bin of a row.
    /// - Parameter counts: whether the row is one of those that are summed.
    @_noLocks
    func add(_ bin: Int, row: Int, counts: Bool) {
        let slot = bin & (Self.binCount &- 1)
        let at = row &* Self.binCount &+ slot
        guard rows[at] < UInt16.max else { return }
        rows[at] &+= 1
        if counts { count(slot, 1) }
    }

    /// Takes out what bins `low ... high` of a row hold.
    @_noLocks
    func clear(row: Int, _ low: Int, _ high: Int, counts: Bool) {
        var bin = low
        while bin <= high {
            let slot = bin & (Self.binCount &- 1)
            let at = row &* Self.binCount &+ slot
            if rows[at] > 0 {
                if counts { count(slot, 0 &- Int32(rows[at])) }
                rows[at] = 0
            }
            bin &+= 1
        }
    }

    /// Moves what bins `low ... high` of a row that does not count hold into one that does.
    @_noLocks
    func move(from: Int, to: Int, _ low: Int, _ high: Int) {
        var bin = low
        while bin <= high {
            let slot = bin & (Self.binCount &- 1)
            let moved = min(rows[from &* Self.binCount &+ slot], UInt16.max &- rows[to &* Self.binCount &+ slot])
            if moved > 0 {
                rows[to &* Self.binCount &+ slot] &+= moved
                count(slot, Int32(moved))
            }
            rows[from &* Self.binCount &+ slot] = 0
            bin &+= 1
        }
    }

    /// Adds bins up from `top` down to `bottom` until they hold more than `allowed`.
    /// - Returns: the bin that was too much, or the one below `bottom`, and what those above it hold.
    @_noLocks
    func descend(from top: Int, to bottom: Int, allowed: Int) -> (bin: Int, above: Int) {
        var bin = top
        var above = 0
        while bin >= bottom {
            let slot = bin & (Self.binCount &- 1)
            if slot & 63 == 63, bin &- 63 >= bottom, above &+ Int(groups[slot >> 6]) <= allowed {
                above &+= Int(groups[slot >> 6])
                bin &-= 64
                continue
            }
            if above &+ Int(sums[slot]) > allowed { return (bin, above) }
            above &+= Int(sums[slot])
            bin &-= 1
        }
        return (bin, above)
    }

    /// The bin, of those from `top` down to `bottom`, above which more delay saves less than it costs: where `price` for each bin up
    /// to it and one for each packet above it are the least together; the lowest of several. A step a bin, of 64 empty ones together.
    @_noLocks
    func knee(from top: Int, to bottom: Int, price: Double) -> Int {
        var bin = top
        var (best, least, cost) = (top, 0.0, 0.0)
        while bin > bottom {
            let slot = bin & (Self.binCount &- 1)
            if slot & 63 == 63, bin &- 64 >= bottom, groups[slot >> 6] == 0 {
                cost -= 64 * price
                bin &-= 64
            } else {
                cost += Double(sums[slot]) - price
                bin &-= 1
            }
            if cost <= least { (best, least) = (bin, cost) }
        }
        return best
    }

    @_noLocks @inline(__always)
    private func count(_ slot: Int, _ number: Int32) {
        sums[slot] &+= number
        groups[slot >> 6] &+= number
    }
}
