// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotDuet
import Foundation

/// The description of a recording, `recording.json`: version 1 of docs/recording-format.md.
struct RecordingManifest: Codable, Equatable {
    var version = 1
    var earshot: String
    var room: String
    /// The date of frame 0, in ISO 8601.
    var started: String
    /// The host time of frame 0 in nanoseconds.
    var zero: Int64
    var sampleRate: Int
    var channelCount: Int
    /// The name of the participant who recorded.
    var recordedBy: String
    var clock = "playback"
    /// The take of a duet in its folder; nil in other recordings.
    var attempt: Attempt?
    /// The beat in place of a duet's song, as it was announced; nil with a song's file, and in other recordings.
    var beat: DuetSong?
    var tracks: [Track] = []

    /// The attempt at a song whose take a duet's folder has.
    struct Attempt: Codable, Equatable {
        var number: UInt32
        /// The random number of the attempt, which all singers have; nil if it has none.
        var id: UInt64?
        /// The key of the local singer in hexadecimal digits; nil if there is none.
        var key: String?
        /// The recordings that the local stem is made of; 0 before.
        var recordingCount = 0
    }

    /// A recorded file.
    struct Track: Codable, Equatable {
        /// The name of the file, or of its first part.
        var file: String
        var parts: Int
        var name: String
        var names: [String]
        var key: String?
        var isLocal: Bool
        var kind: Kind
        var frameCount: Int
        var gaps: [Gap]
        var volumes: [Volume]
        var offset: Offset?
        /// The names of the maps of takes, version 2 of docs/recording-format.md; nil if no song was played.
        var takes: [String]?
        /// The SHA-256 of a song's file in hexadecimal digits; nil if unknown, and for voices.
        var hash: String?
        /// The part of the song that the singer had, 1 or 2; nil if unknown.
        var voicePart: Int?
    }

    /// The content of a track.
    enum Kind: String, Codable {
        case voice, raw, mix
        /// The song of a duet.
        case song
        /// A kind of a later program. It is read, and never written.
        case unknown

        init(from decoder: any Decoder) throws {
            self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
        }
    }

    /// Silence in place of sound.
    struct Gap: Codable, Equatable {
        var frame: Int
        var frameCount: Int
        var reason: Reason

        /// The reason of a gap.
        enum Reason: String, Codable {
            /// The participant was not in the room or out of reach, or its sound is missing.
            case away
            /// The participant has not answered.
            case undecided
            /// The participant does not allow recordings.
            case declined
            /// The device was missing, changed or dropped frames, or the disk was too slow.
            case device
            /// The song was not played to the singer.
            case stopped
            /// Frames of the song were not read in time for the singer.
            case underrun
            /// A reason of a later program. It is read, and never written.
            case unknown

            init(from decoder: any Decoder) throws {
                self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
            }
        }
    }

    /// The gain in the mix from a frame on.
    struct Volume: Codable, Equatable {
        var frame: Int
        var gain: Float
    }

    /// The time by which a track was moved, so that it lines up with what the recording participant heard.
    struct Offset: Codable, Equatable {
        var seconds: Double
        var contains: Content

        /// The content of the time.
        enum Content: String, Codable {
            /// The delay of the recording beyond that of live playback.
            case recordingDepth
            /// The latency of the device, and of voice processing for `voice`.
            case deviceLatency
            /// A time of a later program. It is read, and never written.
            case unknown

            init(from decoder: any Decoder) throws {
                self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
            }
        }
    }

    /// The description without the lengths that grow all the time.
    var withoutLengths: RecordingManifest {
        var manifest = self
        for index in manifest.tracks.indices {
            let track = manifest.tracks[index]
            if let gap = track.gaps.last, gap.frame + gap.frameCount == track.frameCount {
                manifest.tracks[index].gaps[track.gaps.count - 1].frameCount = 0
            }
            manifest.tracks[index].frameCount = 0
        }
        return manifest
    }

    /// Replaces the file in one step. The file must exist, and its mode is kept.
    func write(inFolder folder: String) throws(AudioFileError) { try replacement(inFolder: folder).commit() }

    /// Returns a complete file that replaces the present one when it is committed.
    func replacement(inFolder folder: String) throws(AudioFileError) -> AtomicFileReplacement {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data = (try? encoder.encode(self)) ?? Data()  // every value can be encoded
        let replacement = try AtomicFileReplacement(of: "\(folder)/\(Self.fileName)")
        let file = try AppendingFile(path: replacement.path)
        try file.append([UInt8](data))
        try file.close()
        return replacement
    }

    static let fileName = "recording.json"
}
