// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// Notices that the machine has slept, by the clocks that count sleep and that do not.
package struct SleepNotice: Sendable {
    /// Nanoseconds by which the readings of both clocks may part while the machine is awake.
    private static let tolerance: Int64 = 50_000_000

    private var last = earshot_slept_ns()

    package init() {}

    /// Returns true if the machine slept since the last call.
    package mutating func hasSlept() -> Bool {
        let slept = earshot_slept_ns()
        defer { last = slept }
        return slept - last > Self.tolerance
    }
}
