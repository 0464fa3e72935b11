// SPDX-License-Identifier: Apache-2.0

/// A leader's announcement of the group's time.
package struct GroupAnnouncement: Hashable, Sendable, BitwiseCopyable {
    /// Increases with each new leader.
    package var term: UInt32
    /// The line from the leader's clock to the group's time.
    package var line: ClockLine

    /// Creates an announcement.
    package init(term: UInt32, line: ClockLine) {
        self.term = term
        self.line = line
    }

    /// The greatest rate of a line: that of the fastest clock seen from the slowest.
    private static let greatestRate = 1.2e-3

    /// True if clocks can have the line's rate. All times are valid.
    var isValid: Bool { abs(line.rate) <= Self.greatestRate }
}
