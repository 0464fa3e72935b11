// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The accompaniment as JSON.
package struct AccompanimentDocument: Codable, Equatable, Sendable {
    /// The path of the file.
    package var file: String
    package var title: String
    /// The number of the file from 1, and of all files; nil until the file was opened.
    package var item: Int?
    package var itemCount: Int?
    /// The position in the file, at the time of the event or the status.
    package var seconds: Double
    /// The length of the file in seconds; nil until the file was opened.
    package var duration: Double?
    package var isPlaying: Bool
    /// True while the position moves.
    package var isMoving: Bool
    /// The gain, a factor.
    package var volume: Float
    package var isForAll: Bool
    /// The times at which the accompaniment was silent because its file was read too slowly.
    package var underruns: Int

    package init(_ status: AccompanimentStatus, at time: HostTime) {
        file = status.path
        title = status.title
        if status.item > 0 { (item, itemCount) = (status.item, status.itemCount) }
        seconds = (status.position(at: time) * 1e3).rounded() / 1e3
        duration = status.duration
        isPlaying = status.isPlaying
        isMoving = status.isMoving
        volume = status.gain
        isForAll = status.isForAll
        underruns = status.underrunCount
    }
}
