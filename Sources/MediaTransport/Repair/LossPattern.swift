// SPDX-License-Identifier: Apache-2.0

/// The pattern of losses on the way to the remote peer, over some time.
package struct LossPattern: Hashable, Sendable {
    /// Packets that were sent, those of ``outages`` left out.
    package var expected = 0
    /// Packets of these that did not arrive.
    package var lost = 0
    /// Times that packets were lost, one or several in a row.
    package var bursts = 0
    /// Times that more than ``longestBurst`` were lost in a row: no redundancy helps there.
    package var outages = 0

    /// Packets in a row that count as a burst at most.
    package static let longestBurst = 16

    private var run = 0

    /// A pattern of no packets.
    package init() {}

    /// So many packets were sent, so many of them lost, so many times.
    package init(expected: Int, lost: Int, bursts: Int) {
        self.expected = expected
        self.lost = lost
        self.bursts = bursts
    }

    /// Takes note of packets that follow on those before.
    mutating func add(_ count: Int, have came: Bool) {
        expected += count
        if !came { return run += count }
        endRun()
    }

    /// No packet follows.
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
