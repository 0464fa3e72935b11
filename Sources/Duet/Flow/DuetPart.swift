// SPDX-License-Identifier: Apache-2.0

/// The parts of a song for two: numbers from 1.
package enum DuetPart {
    package static let all = 1...2

    /// Returns the other part.
    package static func other(_ part: Int) -> Int { part == 1 ? 2 : 1 }
}
