// SPDX-License-Identifier: Apache-2.0

/// The levels of packets that arrived in one period; ``DelayHistogram`` counts them in a separate row.
struct DelayWindow: BitwiseCopyable {
    let row: Int
    var start = 0.0  // seconds
    var least = Double.infinity  // the least level, in seconds
    var most = -Double.infinity  // the greatest level, in seconds
    var low = Int.max  // the lowest bin in use
    var high = Int.min  // the highest bin in use
    var count = 0  // packets, with those of stalls that are not counted in the histogram
    var groups = 0  // groups of packets that arrived together
    var packetLength = 0.0  // the seconds of sound in the longest packet
    var turned = 0.0  // the seconds by which the bins are wrong, because the drift was corrected later

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
