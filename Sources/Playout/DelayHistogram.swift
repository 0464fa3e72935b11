// SPDX-License-Identifier: Apache-2.0

/// Counts of packets by delay, in rows that can be removed, and the sums of the rows that count.
///
/// A bin is 0.13 ms wide and has any integer as its number. All bins in use lie within 4,032 (524 ms), so the last 12 bits of the
/// number are the bin's place in memory, and nothing ever moves. Sums of groups of 64 bins limit a quantile to about a hundred
/// steps. Everything except `init` is safe on the render thread.
struct DelayHistogram: ~Copyable {
    /// The width of a bin in seconds.
    static var binWidth: Double { @_noLocks get { 0.000_13 } }
    /// The maximum range of bins in use.
    static var span: Int { @_noLocks get { 4_032 } }

    private static var binCount: Int { @_noLocks get { 4_096 } }
    private let rows: UnsafeMutablePointer<UInt16>  // the counts of each row's bins
    private let sums: UnsafeMutablePointer<Int32>  // the counts of each bin in all rows that count
    private let groups: UnsafeMutablePointer<Int32>  // the sums of 64 neighbouring bins each

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
    /// - Parameter counts: true if the row is one of those in the sums.
    @_noLocks
    func add(_ bin: Int, row: Int, counts: Bool) {
        let slot = bin & (Self.binCount &- 1)
        let index = row &* Self.binCount &+ slot
        guard rows[index] < UInt16.max else { return }
        rows[index] &+= 1
        if counts { count(slot, 1) }
    }

    /// Clears bins `low ... high` of a row.
    @_noLocks
    func clear(row: Int, _ low: Int, _ high: Int, counts: Bool) {
        var bin = low
        while bin <= high {
            let slot = bin & (Self.binCount &- 1)
            let index = row &* Self.binCount &+ slot
            if rows[index] > 0 {
                if counts { count(slot, 0 &- Int32(rows[index])) }
                rows[index] = 0
            }
            bin &+= 1
        }
    }

    /// Moves the counts of bins `low ... high` from a row that is not in the sums to a row that is.
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
    /// - Returns: the bin with which the sum exceeds `allowed`, or the bin below `bottom` if none does; and the sum of all bins
    ///   above the returned one.
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

    /// Returns the bin, from `top` down to `bottom`, above which more delay saves less than it costs. The total cost is minimal
    /// at this bin: `price` for each bin up to it, plus one for each packet above it. Of several such bins it is the lowest.
    /// Takes one step for each bin, and for 64 empty bins together.
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
