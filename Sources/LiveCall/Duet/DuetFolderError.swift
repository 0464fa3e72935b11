// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles

/// The reason that a duet's folder was not changed.
package enum DuetFolderError: Error, Equatable, CustomStringConvertible {
    /// The folder could not be created.
    case folder(CallRecordingError)
    /// The folder has no readable description.
    case description(MixError)
    /// The folder is that of a recording without a song.
    case noSong(folder: String)
    /// The song cannot be read.
    case song(AudioFileError)
    /// The folder has stems of a song with another rate or length.
    case stemsOfAnotherSong(folder: String)
    /// The stem cannot be read, or is not audio.
    case stem(AudioFileError)
    /// The stem is not FLAC.
    case stemType(path: String, type: AudioFileType?)
    /// The stem has another rate than the song.
    case stemRate(path: String, hertz: Double, expected: Double)
    /// The stem has another length than the song.
    case stemLength(path: String, frameCount: Int, expected: Int)
    /// The stem has more than two channels.
    case stemChannels(path: String, count: Int)
    /// The path is that of the song or of another singer's stem.
    case ownFile(path: String)
    /// The folder has the maximum number of stems.
    case tooManyStems(limit: Int)
    /// A file of the folder cannot be written.
    case output(AudioFileError)

    /// One sentence that says what happened.
    package var description: String {
        switch self {
        case .folder(.folder(let path, let code)): "\(AudioFileError.from(errno: code, path: path, creating: true))"
        case .folder: "the folder cannot be created"
        case .description(let error): error.description
        case .noSong(let folder): "\(folder): the recording has no song"
        case .song(let error), .stem(let error), .output(let error): error.description
        case .stemsOfAnotherSong(let folder): "\(folder): the voices belong to a song of another rate or length"
        case .stemType(let path, let type): "\(path): not a stem (\(type?.description ?? "unknown") instead of FLAC)"
        case .stemRate(let path, let hertz, let expected):
            "\(path): not a stem of this song (\(Int(hertz)) Hz instead of \(Int(expected)))"
        case .stemLength(let path, let frameCount, let expected):
            "\(path): not a stem of this song (\(frameCount) frames instead of \(expected))"
        case .stemChannels(let path, let count): "\(path): not a stem (\(count) channels instead of 1 or 2)"
        case .ownFile(let path): "\(path): belongs to the duet"
        case .tooManyStems(let limit): "the folder has \(limit) voices, the maximum"
        }
    }
}
