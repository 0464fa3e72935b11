// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotAudioStreams

/// An error of an ``AudioPlayer``.
public enum AudioPlayerError: Error, Sendable, CustomStringConvertible {
    /// The file could not be opened or read, or is not seekable.
    case file(AudioFileError)
    /// The stream cannot be played.
    case stream(AudioStreamError)
    /// The queue could not be created or started.
    case queue(AudioQueueError)
    /// The playlist has no item of this index.
    case noItem(Int, count: Int)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .file(let error): error.description
        case .stream(let error): error.description
        case .queue(let error): error.description
        case .noItem(let item, let count): "no item \(item); the playlist has \(count), counted from 0"
        }
    }
}

/// An event of an ``AudioPlayer``.
public enum AudioPlayerEvent: Sendable {
    /// Playback started.
    case started
    /// Playback paused.
    case paused
    /// The last frame of the item of this index has been heard. Also sent for an item that failed.
    case itemEnded(Int)
    /// An item could not be opened or read to its end; the next item follows.
    case failed(item: Int, AudioPlayerError)
    /// A stream changed its state. While it buffers or reconnects, silence is heard.
    case stream(item: Int, AudioStreamState)
    /// A seek began before the source answered, and the source is not seekable; playback continues where it was.
    case seekRefused(item: Int, AudioPlayerError)
    /// A station is heard live again after a pause longer than its buffer: this number of buffered frames was skipped.
    case leftOut(item: Int, frameCount: Int)
    /// From now on the sound has this title, or the station's name while there is no title.
    case title(item: Int, String)
    /// The volume, pan or rate was set to this value, clamped to its range.
    case changed(AudioQueueEvent.Property)
    /// Sound was lost.
    case lost(AudioQueueLoss)
    /// The last frame of the last item has been heard.
    case finished
    /// Playback was stopped.
    case stopped
}
