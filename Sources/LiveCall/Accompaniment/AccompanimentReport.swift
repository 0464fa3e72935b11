// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The state of the accompaniment's thread after its last order.
package struct AccompanimentReport: Hashable, Sendable {
    /// A file that is played.
    package struct Item: Hashable, Sendable {
        /// The number of the file, from 1, and of all files.
        package var number: Int
        package var count: Int
        package var path: String
        package var title: String
        /// Seconds.
        package var duration: Double
    }

    /// The number of the last order.
    package var order: Int
    /// The file; nil if none can be played.
    package var item: Item?
    /// Seconds in the file at ``time``.
    package var position = 0.0
    package var time: HostTime
    /// True while the position moves.
    package var isMoving = false
    /// True if the last file has ended.
    package var hasEnded = false
    package var underrunCount = 0
}
