// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotDuet

/// The sound that the singers of a duet hear: a song's file, or a beat that each program makes.
package enum DuetSound: Hashable, Sendable {
    /// The path of a file of any kind that ``SoundFiles`` opens.
    case file(String)
    /// A beat of so many seconds.
    case beat(Beat, duration: Double)

    /// - Parameter path: the path of the song's file; nil while it is not here.
    init?(_ song: DuetSong, path: String?) {
        if song.isBeat {
            self = .beat(song.countIn, duration: song.duration)
        } else if let path {
            self = .file(path)
        } else {
            return nil
        }
    }

    /// The path of the song's file; nil for a beat.
    var path: String? { if case .file(let path) = self { path } else { nil } }

    /// Returns the rate in hertz and the frames. Waits for the disk.
    /// - Throws: the errors of opening; ``AudioFileError/notAudio(path:reason:)`` for a file without a frame.
    func length() throws(AudioFileError) -> (rate: Double, frameCount: Int) {
        switch self {
        case .file(let path): return try SongFile.length(path)
        case .beat(let beat, let duration):
            let reader = BeatReader(beat, duration: duration)
            return (reader.processingFormat.sampleRate, reader.frameCount)
        }
    }
}
