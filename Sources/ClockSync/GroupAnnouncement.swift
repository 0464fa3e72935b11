// SPDX-License-Identifier: Apache-2.0

/// A leader's announcement of the group's time.
package struct GroupAnnouncement: Hashable, Sendable, BitwiseCopyable {
    /// Increases with each new leader.
    package var term: UInt32
    /// From the leader's clock to the group's time.
    package var line: ClockLine

    /// Creates an announcement.
    package init(term: UInt32, line: ClockLine) {
        self.term = term
        self.line = line
    }

    /// The greatest rate of a line: that of the fastest clock seen from the slowest.
    private static let greatestRate = 1.2e-3

    /// True if the announcement can be followed; any times can.
    var isValid: Bool { abs(line.rate) <= Self.greatestRate }
}
