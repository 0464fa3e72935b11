// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The maximum lifetime of a test's sound server.
enum ServerLifetime {
    /// Whole seconds: `EARSHOT_SERVER_LIFETIME`, which benchmarks set, or two minutes.
    static let seconds = ProcessInfo.processInfo.environment["EARSHOT_SERVER_LIFETIME"].flatMap { Int($0) } ?? 120
}
