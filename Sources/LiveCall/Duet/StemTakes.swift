// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotDuet

/// The takes of a recording's local voice that can be used for a song.
struct StemTakes {
    let manifest: RecordingManifest
    let sequence: TakeSequence
    private var faults: [StemFault] = []
    private var tracks: [TrackReader] = []

    /// A track of the local voice, with its takes.
    private struct Voice {
        var track: RecordingManifest.Track
        var takes: [(name: String, take: Take)]
        /// The time at which the first take began.
        var start: HostTime {
            takes.lazy.compactMap { $0.take.map.pieces.first?.hostTime }.first ?? .init(nanoseconds: 0)
        }
    }

    /// - Parameter songLength: the frames of the song.
    init(folder: String, songRate: Double, songLength: Int) throws(StemError) {
        do throws(MixError) { manifest = try RecordingManifest(inFolder: folder) } catch { throw .recording(error) }
        let rate = Double(manifest.sampleRate)
        var voices: [Voice] = []
        for track in manifest.tracks where track.kind == .voice && track.isLocal {
            guard let names = track.takes, !names.isEmpty else { continue }
            var voice = Voice(track: track, takes: [])
            for name in names {
                do throws(StemFault) {
                    var take = try Self.read(name, folder)
                    guard take.description.file == track.file, take.description.sampleRate == rate else {
                        throw .otherSound(
                            take: name, file: take.description.file, sampleRate: take.description.sampleRate)
                    }
                    let damagedCount = try take.removeForeignPieces(name, songRate, songLength)
                    if damagedCount > 0 { faults.append(.damagedLines(take: name, count: damagedCount)) }
                    voice.takes.append((name, take))
                } catch { faults.append(error) }
            }
            voices.append(voice)
        }
        if voices.isEmpty { throw .noTakes(folder: folder) }
        // Later sound counts.
        voices.sort { $0.start < $1.start }
        tracks = voices.map { TrackReader($0.track, folder: folder, voice: $0.track.name, sampleRate: rate) }
        sequence = TakeSequence(
            path: folder,
            format: AudioFormat(sampleRate: rate, channelCount: tracks.map(\.channelCount).max() ?? 1))
        for (voice, track) in zip(voices, tracks) {
            for (name, take) in voice.takes where !sequence.append(take.map, track) {
                faults.append(.tooManyPieces(take: name))
            }
        }
        if sequence.map.pieces.isEmpty { throw .nothingUsable(folder: folder, faults: allFaults) }
    }

    /// All faults so far, also of the sound that was read.
    var allFaults: [StemFault] {
        faults + tracks.flatMap { $0.faults.sorted { $0.description < $1.description } }.map { .sound($0) }
    }

    private static func read(_ name: String, _ folder: String) throws(StemFault) -> Take {
        guard RecordingManifest.isFileName(name) else { throw .unusableMap(take: name, .notATake(path: name)) }
        do { return try Take(path: "\(folder)/\(name)") } catch {
            switch error {
            case let error as TakeError: throw .unusableMap(take: name, error)
            case let error as AudioFileError: throw .missingMap(take: name, error)
            default: throw .unusableMap(take: name, .notATake(path: name))
            }
        }
    }
}

extension Take {
    /// The seconds by which a piece may go beyond the song: a resampler's last block.
    private static let tolerance = 0.1

    /// The part of a map's pieces that may be outside the song: damaged lines.
    private static let damagedPart = 1_000

    /// Removes the damaged pieces, which are outside the song. One, or less than a thousandth, is damage; more are another song.
    /// - Returns: the number of the map's lines that are not used.
    fileprivate mutating func removeForeignPieces(
        _ name: String, _ songRate: Double, _ songLength: Int
    ) throws(StemFault) -> Int {
        let margin = Self.tolerance * songRate
        let song = -margin...Double(songLength) + margin
        let outside = map.pieces.filter { !song.contains($0.position.frames) || !song.contains($0.endPosition.frames) }
        guard description.songSampleRate == songRate,
            outside.count <= 1 || outside.count < map.pieces.count / Self.damagedPart
        else {
            throw .otherSong(
                take: name, sampleRate: description.songSampleRate,
                lastFrame: map.pieces.map(\.endPosition.frame).max() ?? 0)
        }
        if !outside.isEmpty {
            var kept = SongMap()
            for piece in map.pieces where !outside.contains(piece) { kept.append(piece) }
            for gap in map.gaps { kept.append(gap) }
            map = kept
        }
        return skippedLineCount + outside.count
    }
}
