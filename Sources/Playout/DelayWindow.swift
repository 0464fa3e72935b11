// SPDX-License-Identifier: Apache-2.0

/// The levels of packets that arrived in one period; ``DelayHistogram`` counts them in a separate row.
struct DelayWindow: BitwiseCopyable {
    let row: Int
    var start = 0.0
    var least = Double.infinity  // level
    var most = -Double.infinity
    var low = Int.max  // bins
    var high = Int.min
    var count = 0  // packets, with those put aside
    var groups = 0  // of packets that came at once
    var packetLength = 0.0  // seconds of the longest
    var turned = 0.0  // seconds by which the levels in it are off, as the drift was found to be another

    @_noLocks
    init(row: Int) { self.row = row }

    var isEmpty: Bool { @_noLocks get { low > high } }

    @_noLocks
    mutating func add(_ level: Double, bin: Int) {
        least = min(least, level)
        most = max(most, level)
        low = min(low, bin)
        high = max(high, bin)
    }

    /// Adds the levels of another window; the row stays.
    @_noLocks
    mutating func merge(_ other: DelayWindow) {
        least = min(least, other.least)
        most = max(most, other.most)
        low = min(low, other.low)
        high = max(high, other.high)
    }
}
