// SPDX-License-Identifier: Apache-2.0

/// The pattern of losses to the remote peer over some time.
package struct LossPattern: Hashable, Sendable {
    /// The packets sent, without those of ``outages``.
    package var expected = 0
    /// The packets of these that did not arrive.
    package var lost = 0
    /// The runs of lost packets, of one or more.
    package var bursts = 0
    /// The runs of more than ``longestBurst`` lost packets, against which no redundancy helps.
    package var outages = 0

    /// The maximum packets of a burst.
    package static let longestBurst = 16

    private var run = 0

    /// Creates an empty pattern.
    package init() {}

    /// Creates a pattern from counts.
    package init(expected: Int, lost: Int, bursts: Int) {
        self.expected = expected
        self.lost = lost
        self.bursts = bursts
    }

    /// Adds the packets that follow.
    mutating func add(_ count: Int, have came: Bool) {
        expected += count
        if !came { return run += count }
        endRun()
    }

    /// Ends the last run.
    mutating func finish() { endRun() }

    private mutating func endRun() {
        defer { run = 0 }
        guard run > 0 else { return }
        if run > Self.longestBurst {
            outages += 1
            expected -= run
        } else {
            bursts += 1
            lost += run
        }
    }
}
