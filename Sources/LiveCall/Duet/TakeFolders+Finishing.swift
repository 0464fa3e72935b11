// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotDuet
import EarshotMediaTransport

/// The end of a take whose program was killed, or failed, before it made the local stem.
extension TakeFolders {
    /// A take that was finished.
    package struct Finished: Sendable {
        /// The local singer's name.
        package var singer: String
        package var stem: AlignedStem
    }

    /// True if a recording is not in the local stem.
    package var isUnfinished: Bool {
        guard !recordings.isEmpty else { return false }
        guard hasDescription else { return true }
        guard let duet = try? DuetFolder(path: folder) else { return false }
        guard duet.manifest.tracks.contains(where: { $0.kind == .voice && $0.isLocal }) else { return true }
        return duet.attempt.map { $0.recordingCount < recordings.count } ?? false
    }

    /// True if the song was heard in a recording, so that its voice can become a stem.
    var wasSung: Bool {
        recordings.contains { recording in
            (PathText.names(inFolder: recording) ?? []).contains { name in
                name.hasSuffix(".take") && (try? Take(path: "\(recording)/\(name)"))?.map.pieces.isEmpty == false
            }
        }
    }

    private var hasDescription: Bool {
        PathText.status("\(folder)/\(RecordingManifest.fileName)").map { $0.st_size > 0 } ?? false
    }

    /// Renders what the recordings have of the local voice into a stem, and adds it to the folder.
    /// - Parameter program: the program's version.
    /// - Throws: ``StemError``, ``DuetFolderError``.
    package func finish(program: String) throws -> Finished {
        let manifest = recordings.lazy.compactMap { try? RecordingManifest(inFolder: $0) }.last
        let local = manifest?.tracks.first { $0.kind == .voice && $0.isLocal }
        let song = try sound()
        let stem = try AlignedStem.write(takesOf: recordings, song: song, to: "\(recordings[0])/.stem.flac")
        let singer = local?.name ?? manifest?.recordedBy ?? ""
        var duet = try DuetFolder(
            take: folder, name: manifest?.room ?? "", recordedBy: manifest?.recordedBy ?? "", song: song,
            program: program, attempt: nil)
        var finished = Finished(singer: singer, stem: stem)
        finished.stem.path = try duet.addStem(
            path: stem.path, singer: singer, key: local?.key.flatMap { KeyFingerprint(hex: $0) }, isLocal: true,
            gaps: stem.gaps, recordingCount: recordings.count)
        return finished
    }

    /// Returns the sound of the song: that of the folder, or else one of the songs that hosts have sent.
    private func sound() throws(StemError) -> DuetSound {
        if hasDescription {
            do throws(DuetFolderError) { return try DuetFolder(path: folder).sound } catch {
                if case .description(let error) = error { throw .recording(error) }
            }
        }
        for name in PathText.names(inFolder: folder) ?? [] where name.hasPrefix("\(DuetFolder.songName).") {
            return .file("\(folder)/\(name)")
        }
        let hashes = Set(
            recordings.flatMap { recording in
                (PathText.names(inFolder: recording) ?? []).filter { $0.hasSuffix(".take") }
                    .compactMap { try? Take(path: "\(recording)/\($0)").description.songHash }
            })
        let songs = "\(parent)/../\(LiveCall.Configuration.songFolderName)"
        for name in PathText.names(inFolder: songs) ?? [] where !name.hasPrefix(".") && !hashes.isEmpty {
            guard let hash = try? SongFile.hash("\(songs)/\(name)", limit: DuetSong.largestFile).hash else { continue }
            if hashes.contains(hash) { return .file("\(songs)/\(name)") }
        }
        throw .noSong(folder: folder)
    }
}
