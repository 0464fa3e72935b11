// SPDX-License-Identifier: Apache-2.0

/// The order of playback: as named or random, once or endless.
struct PlayOrder {
    private let count: Int
    private let isShuffled: Bool
    private let isEndless: Bool
    private var randomState: UInt64
    private var round: [Int] = []

    /// - Parameter seed: the seed of a random order; the same seed gives the same order. nil for the order as named.
    init(count: Int, shuffle seed: UInt64?, isEndless: Bool) {
        self.count = count
        self.isEndless = isEndless
        isShuffled = seed != nil
        randomState = seed ?? 0
        round = nextRound()
    }

    /// Returns the index of the next item; nil after the last item. An endless order has no last item.
    mutating func next() -> Int? {
        if round.isEmpty, isEndless { round = nextRound() }
        guard let next = round.popLast() else { return nil }
        last = next
        return next
    }
    private var last: Int?

    /// Returns the indices of the items of the next round, in reverse order.
    private mutating func nextRound() -> [Int] {
        var items = Array((0..<count).reversed())
        guard isShuffled, count > 1 else { return items }
        for i in stride(from: count - 1, to: 0, by: -1) { items.swapAt(i, Int(random() % UInt64(i + 1))) }
        // The new round must not begin with the last item of the round before.
        if items.last == last { items.swapAt(0, count - 1) }
        return items
    }

    /// Returns a random number by SplitMix64 (Steele, Lea and Flood, 2014).
    private mutating func random() -> UInt64 {
        randomState &+= 0x9E37_79B9_7F4A_7C15
        var z = randomState
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
