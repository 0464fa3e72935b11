// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation

@testable import EarshotDuet
@testable import EarshotLiveCall

/// The folder of a recording whose local voice has takes of a song of one second, both at 48 kHz.
struct TakeFolderRig {
    static let frameCount = 48_000
    let recording: MixRig
    var stemPath: String { recording.path("stem.flac") }

    /// - Parameter sound: the local voice, in `Anna.wav`.
    init(_ sound: [[Float]]) throws {
        recording = try MixRig()
        try recording.add("Anna", sound)
        recording.manifest.tracks[0].takes = []
        try MixRig.write([MixRig.tone(440, Self.frameCount)], to: recording.path("song.wav"))
    }

    /// Writes a take and adds it to the description.
    func add(
        _ name: String, _ entries: [TakeMapper.Entry], file: String = "Anna.wav", songRate: Double = 48_000,
        songHash: String? = nil, rate: Double = 48_000
    ) throws {
        let number = (recording.manifest.tracks[0].takes?.count ?? 0) + 1
        let writer = try TakeWriter(
            path: recording.path(name),
            TakeDescription(
                file: file, singer: "Anna", number: number, sampleRate: rate, songSampleRate: songRate,
                songHash: songHash))
        try writer.write(entries)
        try writer.close()
        recording.manifest.tracks[0].takes?.append(name)
    }

    /// Returns a piece of a take that was sung at the song's speed.
    static func piece(_ frame: Int, _ frameCount: Int, song: Int) -> TakeMapper.Entry {
        .piece(
            .init(
                frame: Int64(frame), frameCount: Int64(frameCount), position: SongPosition(frame: Int64(song)),
                rate: SongPosition.unitsPerFrame, hostTime: HostTime(nanoseconds: Int64(frame))))
    }

    /// Writes the stem and reads it.
    func write(song: DuetSound? = nil) throws -> (stem: AlignedStem, sound: [[Float]]) {
        _ = try recording.source()
        let stem = try AlignedStem.write(
            takesOf: [recording.folder], song: song ?? .file(recording.path("song.wav")), to: stemPath)
        return (stem, try MixRig.read(stemPath))
    }

    /// Returns the error of writing the stem.
    func error() throws -> StemError? {
        do { _ = try write() } catch let error as StemError { return error }
        return nil
    }
}

/// Returns the mode of a file.
func fileMode(_ path: String) -> mode_t? { PathText.status(path).map { $0.st_mode & 0o7777 } }
