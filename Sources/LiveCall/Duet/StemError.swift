// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotDuet

/// The reason that no stem could be written.
package enum StemError: Error, Equatable, CustomStringConvertible {
    /// The song cannot be read.
    case song(AudioFileError)
    /// The recording cannot be read.
    case recording(MixError)
    /// The local voice of the recording has no take.
    case noTakes(folder: String)
    /// No take has sound in the song. The faults say why; without faults nothing was sung.
    case nothingUsable(folder: String, faults: [StemFault])
    /// All takes are those of another song.
    case otherSong(folder: String)
    /// The song of the take is not in its folder, nor among the songs that hosts have sent.
    case noSong(folder: String)
    /// The path is a file of the recording.
    case ownFile(path: String)
    /// The stem cannot be written.
    case output(AudioFileError)

    /// One sentence that says what happened.
    package var description: String {
        switch self {
        case .song(let error), .output(let error): error.description
        case .recording(let error): error.description
        case .noTakes(let folder): "\(folder): the recording has no take of a song"
        case .nothingUsable(let folder, let faults):
            faults.first.map { "\(folder): no take can be used (\($0))" } ?? "\(folder): nothing was sung"
        case .otherSong(let folder): "\(folder): the takes are those of another song"
        case .noSong(let folder): "\(folder): the take's song is missing"
        case .ownFile(let path): "\(path): belongs to the recording"
        }
    }

    /// True if nothing was sung, so that there is no stem.
    var isSilence: Bool {
        if case .nothingUsable(_, let faults) = self { faults.isEmpty } else { false }
    }
}

/// A fault of a take or its sound. What it concerns is silent in the stem.
package enum StemFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// One of several recordings cannot be read.
    case recording(MixError)
    /// The map cannot be opened.
    case missingMap(take: String, AudioFileError)
    /// The map is damaged as a whole, or of a later version.
    case unusableMap(take: String, TakeError)
    /// Lines of the map cannot be used.
    case damagedLines(take: String, count: Int)
    /// The take is one of another song: it has another hash or rate, or positions beyond the song's end.
    case otherSong(take: String, sampleRate: Double, lastFrame: Int64)
    /// The take belongs to a sound file that is not the track which names it, or has another rate.
    case otherSound(take: String, file: String, sampleRate: Double)
    /// The takes have more pieces than a map holds. This take has a part in the stem up to there.
    case tooManyPieces(take: String)
    /// A part of the sound is missing or damaged.
    case sound(MixFault)

    /// One sentence that says what happened.
    package var description: String {
        switch self {
        case .recording(let error): error.description
        case .missingMap(_, let error): error.description
        case .unusableMap(let take, .notATake): "\(take): not the map of a take"
        case .unusableMap(let take, .unknownVersion(_, let version)):
            "\(take): written by a newer Earshot (version \(version))"
        case .unusableMap(let take, .tooLarge): "\(take): larger than a map can be"
        case .damagedLines(let take, let count): "\(take): \(count) lines are damaged"
        case .otherSong(let take, _, _): "\(take): a take of another song"
        case .otherSound(let take, let file, _): "\(take): the map of another sound (\(file))"
        case .tooManyPieces(let take): "\(take): has too many pieces"
        case .sound(let fault): fault.description
        }
    }
}
