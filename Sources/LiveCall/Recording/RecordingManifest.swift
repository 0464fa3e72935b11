// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation
import Glibc

/// The description of a recording, `recording.json`: version 1 of docs/recording-format.md.
package struct RecordingManifest: Codable, Equatable {
    package var version = 1
    package var earshot: String
    package var room: String
    /// The date of frame 0, in ISO 8601.
    package var started: String
    /// The host time of frame 0 in nanoseconds.
    package var zero: Int64
    package var sampleRate: Int
    package var channelCount: Int
    /// The name of the participant who recorded.
    package var recordedBy: String
    package var clock = "playback"
    package var tracks: [Track] = []

    /// A recorded file.
    package struct Track: Codable, Equatable {
        /// The name of the file, or of its first part.
        package var file: String
        package var parts: Int
        package var name: String
        package var names: [String]
        package var key: String?
        package var isLocal: Bool
        package var kind: Kind
        package var frameCount: Int
        package var gaps: [Gap]
        package var volumes: [Volume]
        package var offset: Offset?
    }

    /// The content of a track.
    package enum Kind: String, Codable {
        case voice, raw, mix
    }

    /// Silence in place of sound.
    package struct Gap: Codable, Equatable {
        package var frame: Int
        package var frameCount: Int
        package var reason: Reason

        /// The reason of a gap.
        package enum Reason: String, Codable {
            /// The participant was not in the room, or out of reach.
            case away
            /// The participant has not answered.
            case undecided
            /// The participant does not allow recordings.
            case declined
            /// The device was missing or changed.
            case device
        }
    }

    /// The gain in the mix from a frame on.
    package struct Volume: Codable, Equatable {
        package var frame: Int
        package var gain: Float
    }

    /// The time by which a track was moved, so that it lines up with what the recording participant heard.
    package struct Offset: Codable, Equatable {
        package var seconds: Double
        package var contains: Content

        /// The content of the time.
        package enum Content: String, Codable {
            /// The delay of the recording beyond that of live playback.
            case recordingDepth
            /// The input and output latency of the device.
            case deviceLatency
        }
    }

    /// Replaces the file in one step, with mode 0600.
    package func write(inFolder folder: String) throws(AudioFileError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else { return }  // every value can be encoded
        let (path, newPath) = ("\(folder)/\(Self.fileName)", "\(folder)/.\(Self.fileName).new")
        let file = try AppendingFile(path: newPath)
        try file.append([UInt8](data))
        try file.close()
        guard rename(PathText.bytes(newPath), PathText.bytes(path)) == 0 else { throw .from(errno: errno, path: path) }
    }

    package static let fileName = "recording.json"
}
