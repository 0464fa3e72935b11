// SPDX-License-Identifier: Apache-2.0

/// Counts of packets by delay, in removable rows, and the sum of the rows that count.
///
/// A bin has 0.13 ms and any integer as its number; as all bins in use lie within 4,032 (524 ms), they are stored by their
/// number's last 12 bits, and nothing ever moves. Sums of groups of 64 bins limit a quantile to about a hundred steps. Everything
/// except `init` is safe on the render thread.
struct DelayHistogram: ~Copyable {
    /// The width of a bin in seconds.
    static var binWidth: Double { @_noLocks get { 0.000_13 } }
    /// The maximum range of bins in use.
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
    /// - Parameter counts: true if the row is in the sum.
    @_noLocks
    func add(_ bin: Int, row: Int, counts: Bool) {
        let slot = bin & (Self.binCount &- 1)
        let at = row &* Self.binCount &+ slot
        guard rows[at] < UInt16.max else { return }
        rows[at] &+= 1
        if counts { count(slot, 1) }
    }

    /// Clears bins `low ... high` of a row.
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

    /// Moves bins `low ... high` of a row outside the sum to one in it.
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

    /// Adds up bins from `top` down to `bottom` until they contain more than `allowed`.
    /// - Returns: the bin that exceeded it, or the one below `bottom`, and the sum of those above it.
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

    /// Returns the bin, from `top` down to `bottom`, above which more delay saves less than it costs: the minimum of `price` for
    /// each bin up to it plus one for each packet above it; the lowest of several. One step for each bin, and for 64 empty ones
    /// together.
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
