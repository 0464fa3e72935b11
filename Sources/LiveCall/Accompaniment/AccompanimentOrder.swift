// SPDX-License-Identifier: Apache-2.0

/// An order for the accompaniment's thread.
package enum AccompanimentOrder: Hashable, Sendable {
    /// Loads other files, paused at the beginning of the first one; an empty list ends the accompaniment.
    case load([String], gain: Float, isForAll: Bool)
    case control(AccompanimentControl)
}
