// SPDX-License-Identifier: Apache-2.0

/// The entries of a damaged list that agree on their order.
enum LongestChain {
    /// Returns the indices of the longest chain of ranges, in order: each range begins at or after the end of the one before. Takes
    /// n log n steps, because it keeps the chain of each length that ends first (M. L. Fredman, "On computing the length of longest
    /// increasing subsequences", 1975).
    static func indices(_ ranges: [(start: Int64, end: Int64)]) -> [Int] {
        /// For each length, the last index of the chain that ends first.
        var last: [Int] = []
        var previous = [Int](repeating: -1, count: ranges.count)
        for (index, range) in ranges.enumerated() {
            var (low, high) = (0, last.count)
            while low < high {
                let middle = (low + high) / 2
                if ranges[last[middle]].end <= range.start { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[index] = last[low - 1] }
            if low == last.count {
                last.append(index)
            } else if range.end < ranges[last[low]].end {
                last[low] = index
            }
        }
        var chain: [Int] = []
        var index = last.last ?? -1
        while index >= 0 {
            chain.append(index)
            index = previous[index]
        }
        return chain.reversed()
    }
}
