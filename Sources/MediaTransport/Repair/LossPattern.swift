// SPDX-License-Identifier: Apache-2.0

/// The pattern of packet losses on the way to the remote peer, over some time.
package struct LossPattern: Hashable, Sendable {
    /// The packets sent, without those of ``outages``.
    package var expected = 0
    /// The lost packets, without those of ``outages``.
    package var lost = 0
    /// The number of bursts: runs of one to ``longestBurst`` lost packets.
    package var bursts = 0
    /// The number of runs of more than ``longestBurst`` lost packets, against which no redundancy helps.
    package var outages = 0

    /// The maximum packets of a burst.
    package static let longestBurst = 16

    private var lostRun = 0

    /// Creates an empty pattern.
    package init() {}

    /// Creates a pattern from counts.
    package init(expected: Int, lost: Int, bursts: Int) {
        self.expected = expected
        self.lost = lost
        self.bursts = bursts
    }

    /// Adds the next `count` packets, which have all arrived or are all lost.
    mutating func add(_ count: Int, have came: Bool) {
        expected += count
        if !came { return lostRun += count }
        endRun()
    }

    /// Ends the last run of lost packets.
    mutating func finish() { endRun() }

    private mutating func endRun() {
        defer { lostRun = 0 }
        guard lostRun > 0 else { return }
        if lostRun > Self.longestBurst {
            outages += 1
            expected -= lostRun
        } else {
            bursts += 1
            lost += lostRun
        }
    }
}
