// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotDuet

/// The takes of the local voice that can be used for a song, of one or more recordings.
struct StemTakes {
    /// The song's file.
    struct Song {
        var rate: Double
        var frameCount: Int
        /// The SHA-256 in hexadecimal digits.
        var hash: String
    }

    let sequence: TakeSequence
    private let recordings: [(folder: String, manifest: RecordingManifest)]
    private var faults: [StemFault] = []
    private var tracks: [TrackReader] = []

    /// A track of the local voice, with its takes.
    private struct Voice {
        var track: RecordingManifest.Track
        /// The index of the recording.
        var recording: Int
        var takes: [(name: String, take: Take)] = []
        /// The time at which the first take began.
        var start: HostTime {
            takes.lazy.compactMap { $0.take.map.pieces.first?.hostTime }.first ?? .init(nanoseconds: 0)
        }
    }

    /// - Parameter folders: the recordings in the order in which they were made. Those that cannot be read are faults.
    init(folders: [String], song: Song) throws(StemError) {
        var recordings: [(folder: String, manifest: RecordingManifest)] = []
        for folder in folders {
            do throws(MixError) { recordings.append((folder, try RecordingManifest(inFolder: folder))) } catch {
                faults.append(.recording(error))
            }
        }
        if recordings.isEmpty, case .recording(let error)? = faults.first { throw .recording(error) }
        self.recordings = recordings
        var voices: [Voice] = []
        for (index, (folder, manifest)) in recordings.enumerated() {
            for track in manifest.tracks where track.kind == .voice && track.isLocal {
                guard let names = track.takes, !names.isEmpty else { continue }
                var voice = Voice(track: track, recording: index)
                for name in names {
                    do throws(StemFault) {
                        let (take, damagedCount) = try Self.read(name, folder, track, Double(manifest.sampleRate), song)
                        if damagedCount > 0 { faults.append(.damagedLines(take: name, count: damagedCount)) }
                        voice.takes.append((name, take))
                    } catch { faults.append(error) }
                }
                voices.append(voice)
            }
        }
        if voices.isEmpty { throw .noTakes(folder: folders.last ?? "") }
        // Later sound counts. The clock of the times begins anew with the machine.
        voices.sort { ($0.recording, $0.start.nanoseconds) < ($1.recording, $1.start.nanoseconds) }
        let rate = recordings.map(\.manifest.sampleRate).max() ?? 0
        tracks = voices.map { voice in
            TrackReader(
                voice.track, folder: recordings[voice.recording].folder, voice: voice.track.name,
                sampleRate: Double(rate))
        }
        sequence = TakeSequence(
            path: folders.last ?? "",
            format: AudioFormat(sampleRate: Double(rate), channelCount: tracks.map(\.channelCount).max() ?? 1))
        var recording = 0
        for (voice, track) in zip(voices, tracks) {
            if voice.recording != recording { sequence.endRecording() }
            recording = voice.recording
            for (name, take) in voice.takes {
                let map = take.map.converted(from: recordings[recording].manifest.sampleRate, to: rate)
                if !sequence.append(map, track) { faults.append(.tooManyPieces(take: name)) }
            }
        }
        guard sequence.map.pieces.isEmpty else { return }
        let folder = folders.last ?? ""
        if !faults.isEmpty, faults.allSatisfy(\.isOtherSong) { throw .otherSong(folder: folder) }
        throw .nothingUsable(folder: folder, faults: allFaults)
    }

    /// All faults so far, also of the sound that was read.
    var allFaults: [StemFault] {
        faults + tracks.flatMap { $0.faults.sorted { $0.description < $1.description } }.map { .sound($0) }
    }

    /// Returns true if a path is a file of a recording.
    func owns(_ path: String) -> Bool { recordings.contains { $0.manifest.owns(path, inFolder: $0.folder) } }

    /// Reads a take and checks it. Returns it with the number of its lines that are not used.
    private static func read(
        _ name: String, _ folder: String, _ track: RecordingManifest.Track, _ rate: Double, _ song: Song
    ) throws(StemFault) -> (take: Take, damagedCount: Int) {
        guard RecordingManifest.isFileName(name) else { throw .unusableMap(take: name, .notATake(path: name)) }
        var take: Take
        do { take = try Take(path: "\(folder)/\(name)") } catch {
            switch error {
            case let error as TakeError: throw .unusableMap(take: name, error)
            case let error as AudioFileError: throw .missingMap(take: name, error)
            default: throw .unusableMap(take: name, .notATake(path: name))
            }
        }
        let sound = take.description
        guard sound.file == track.file, sound.sampleRate == rate else {
            throw .otherSound(take: name, file: sound.file, sampleRate: sound.sampleRate)
        }
        let damagedCount = try take.removeForeignPieces(name, song)
        return (take, damagedCount)
    }
}

extension StemFault {
    fileprivate var isOtherSong: Bool { if case .otherSong = self { true } else { false } }
}

extension Take {
    /// The seconds by which a piece may go beyond the song: a resampler's last block.
    private static let tolerance = 0.1

    /// The part of a map's pieces that may be outside the song: damaged lines.
    private static let damagedPart = 1_000

    /// Removes the damaged pieces, which are outside the song. One, or less than a thousandth, is damage; more are another song, as
    /// is another hash. Takes of earlier programs have none.
    /// - Returns: the number of the map's lines that are not used.
    fileprivate mutating func removeForeignPieces(_ name: String, _ song: StemTakes.Song) throws(StemFault) -> Int {
        let margin = Self.tolerance * song.rate
        let range = -margin...Double(song.frameCount) + margin
        let outside = map.pieces.filter {
            !range.contains($0.position.frames) || !range.contains($0.endPosition.frames)
        }
        guard description.songSampleRate == song.rate, description.songHash ?? song.hash == song.hash,
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
