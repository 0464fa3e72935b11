// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotAudioStreams

/// An operation that an ``AudioPlayer`` refused.
public enum AudioPlayerError: Error, Sendable, CustomStringConvertible {
    /// The file cannot be opened, or gone about in.
    case file(AudioFileError)
    /// The stream cannot be played.
    case stream(AudioStreamError)
    /// The queue could not be made or started.
    case queue(AudioQueueError)
    /// The playlist has no such item.
    case noItem(Int, count: Int)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .file(let error): error.description
        case .stream(let error): error.description
        case .queue(let error): error.description
        case .noItem(let item, let count): "there is no item \(item); the playlist has \(count), counted from 0"
        }
    }
}

/// An event of an ``AudioPlayer``.
public enum AudioPlayerEvent: Sendable {
    /// It plays.
    case started
    /// It stands still.
    case paused
    /// The last frame of an item has been heard.
    case itemEnded(Int)
    /// An item could not be read to its end; the next goes on.
    case failed(item: Int, AudioPlayerError)
    /// A stream does something else now. While it buffers or reconnects silence is heard.
    case stream(item: Int, AudioStreamState)
    /// A seek began before the source answered, and the source is not seekable; playback continues where it was.
    case seekRefused(item: Int, AudioPlayerError)
    /// A station goes on live after a pause longer than is held: so many frames that were held are left out.
    case leftOut(item: Int, frameCount: Int)
    /// The sound has this title from now on; at first the station's name.
    case title(item: Int, String)
    /// Its volume, pan or rate was set, to this: what was out of range has been brought into it.
    case changed(AudioQueueEvent.Property)
    /// Sound was not there in time.
    case lost(AudioQueueLoss)
    /// The last frame of the last item has been heard.
    case finished
    /// It was stopped.
    case stopped
}
