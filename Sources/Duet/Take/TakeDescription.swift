// SPDX-License-Identifier: Apache-2.0

/// The first line of a take's map file, as docs/recording-format.md describes it.
package struct TakeDescription: Codable, Hashable, Sendable {
    /// The version of the format.
    package var version = 2
    /// The sound file's name, in the same folder.
    package var file: String
    package var singer: String
    /// The number of the attempt, from 1.
    package var number: Int
    /// The rate of the sound file in hertz.
    package var sampleRate: Double
    /// The rate of the song's positions in hertz.
    package var songSampleRate: Double
    /// The SHA-256 of the song's file in 64 hexadecimal digits; nil in takes of earlier programs.
    package var songHash: String?
    /// The seconds by which the device's latencies may be wrong; nil if unknown.
    package var uncertainty: Double?
    /// The origin of the device's latencies: `reported` by the device or `measured`; nil in takes of earlier programs.
    package var latencySource: String?

    package init(
        file: String, singer: String, number: Int, sampleRate: Double, songSampleRate: Double,
        songHash: String? = nil, uncertainty: Double? = nil, latencySource: String? = nil
    ) {
        (self.file, self.singer, self.number) = (file, singer, number)
        (self.sampleRate, self.songSampleRate, self.songHash) = (sampleRate, songSampleRate, songHash)
        (self.uncertainty, self.latencySource) = (uncertainty, latencySource)
    }
}

/// A line after the first one: a piece of the map, or a gap.
struct TakeLine: Codable {
    var frame: Int64
    var frameCount: Int64
    var songFrame: Int64?
    var songFraction: Int64?
    var rate: Int64?
    var hostTime: Int64?
    var gap: String?
}

/// A failure to read a take.
package enum TakeError: Error, Hashable, Sendable {
    /// The file of the map has no complete first line, or one that describes no take.
    case notATake(path: String)
    /// The format is a later one.
    case unknownVersion(path: String, version: Int)
    /// The map has more than ``Take/largestFile`` bytes.
    case tooLarge(path: String)
}
