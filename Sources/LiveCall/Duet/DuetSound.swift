// SPDX-License-Identifier: Apache-2.0

import EarshotAudioContainers
import EarshotAudioFiles
import EarshotDuet

/// The sound that the singers of a duet hear: a song's file, or a beat that each program makes. Functions that throw wait for the
/// disk.
package enum DuetSound: Hashable, Sendable {
    /// The path of a file of any kind that ``SoundFiles`` opens.
    case file(String)
    /// A beat, by its description.
    case beat(DuetSong)

    /// - Parameter path: the path of the song's file; nil while it is not here.
    init?(_ song: DuetSong, path: String?) {
        if song.isBeat {
            var beat = song
            beat.firstAttempt = nil  // not a property of the sound
            self = .beat(beat)
        } else if let path {
            self = .file(path)
        } else {
            return nil
        }
    }

    /// The path of the song's file; nil for a beat.
    var path: String? { if case .file(let path) = self { path } else { nil } }

    /// True if the song's file shows that its end is missing. Waits for the disk.
    var isCutOff: Bool {
        guard let path, let file = try? SoundFiles.open(path) as? any DetailedSoundFileReader else { return false }
        return file.isCutOff
    }

    /// Returns the rate in hertz and the frames.
    /// - Throws: the errors of opening; ``AudioFileError/notAudio(path:reason:)`` for a file without a frame.
    func length() throws(AudioFileError) -> (rate: Double, frameCount: Int) {
        switch self {
        case .file(let path): return try SongFile.length(path)
        case .beat(let beat):
            let reader = BeatReader(beat.countIn, duration: beat.duration)
            return (reader.processingFormat.sampleRate, reader.frameCount)
        }
    }

    /// Returns the hash of a file, or that by which a beat was announced.
    func hash() throws(AudioFileError) -> String {
        switch self {
        case .file(let path):
            do throws(DuetProblem) { return try SongFile.hash(path, limit: .max).hash } catch {
                guard case .unreadable(_, let code) = error else { throw .missing(path: path) }
                throw .from(errno: code, path: path)
            }
        case .beat(let beat): return beat.hash
        }
    }
}
