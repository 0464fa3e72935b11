// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// The accompaniment of a call: files that the local participant plays, for itself or for all.
///
/// The value does not change while a file plays: ``position(at:)`` counts from the last change.
public struct AccompanimentStatus: Hashable, Sendable {
    /// The tags' artist and title, or the file's name.
    public package(set) var title: String
    /// True while the accompaniment is to play. It is silent all the same while the sound device does not run.
    public package(set) var isPlaying = false
    /// The path of the file.
    package var path: String
    /// The number of the file, from 1, and of all files; 0 until the file was opened.
    package var item = 0
    package var itemCount = 0
    /// The length of the file in seconds; nil until the file was opened.
    package var duration: Double?
    /// The gain, a factor from 0 to 8.
    package var gain: Float = 1
    /// True if all participants hear the accompaniment.
    package var isForAll = false
    /// The times at which the accompaniment was silent because its file was read too slowly.
    package var underrunCount = 0
    /// The position in seconds at a time, and true if it moves since.
    private var anchor = Anchor()

    private struct Anchor: Hashable, Sendable {
        var position = 0.0
        var time = HostTime(nanoseconds: 0)
        var isMoving = false
    }

    /// True while the position moves: the accompaniment plays, and the device runs.
    package var isMoving: Bool { anchor.isMoving }

    package init(path: String) {
        self.path = path
        title = PathText.fileName(path)
    }

    /// Returns the position in the file at a time, in seconds.
    public func position(at time: HostTime) -> Double {
        let seconds = anchor.position + (anchor.isMoving ? time.seconds(since: anchor.time) : 0)
        return max(0, min(duration ?? .infinity, seconds))
    }

    /// Sets the position at a time.
    package mutating func setPosition(_ position: Double, at time: HostTime, isMoving: Bool) {
        anchor = Anchor(position: position, time: time, isMoving: isMoving)
    }

    /// The status without its clock and its count of underruns, which change without an event.
    var withoutClock: AccompanimentStatus {
        var status = self
        (status.anchor, status.underrunCount) = (Anchor(), 0)
        return status
    }
}
