// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotDuet
import EarshotMediaTransport
import EarshotRooms

/// The files of turns: one singer sings each take, and its mix has the earlier voices, too.
extension LiveCall {
    /// Makes the folder of an attempt that is the turn of another singer, for that voice and the earlier ones.
    func awaitVoice(_ number: UInt32) {
        // A member that came back under another number has the folder.
        guard duet.withLock({ $0[number] == nil }) else { return }
        do throws(CallRecordingError) {
            guard var files = try makeAttempt(number, by: snapshot.localParticipant) else { return }
            // The voices of others arrive in the folder itself.
            files.recordingFolders = [files.folder]
            (files.isSung, files.isStemRequested, files.stemTime) = (false, true, .now())
            duet.withLock { $0[number] = files }
            describeTake(files)
        } catch {
            duet.withLock { if case .folder(let path, let code) = error { $0.note(.folder(path: path, code: code)) } }
        }
    }

    /// Makes the folders of an attempt; nil without a song.
    func makeAttempt(_ number: UInt32, by own: Participant?) throws(CallRecordingError) -> LiveDuet.Attempt? {
        let (song, sound, status) = duet.withLock { ($0.core?.song, $0.sound, $0.core?.status(at: .now())) }
        guard let song, let sound else { return nil }
        let identity = RecordingManifest.Attempt(
            number: status?.take ?? number, id: status?.attemptID, key: own?.key?.hex)
        let folders = try makeTakeFolders(identity, song)
        var files = LiveDuet.Attempt(
            folder: folders.folder, recordingFolders: folders.recordings, identity: identity, sound: sound,
            songTitle: RecordingFolder.cleaned(song.title), duration: song.duration)
        files.part = status?.part
        files.keptFolder = duet.withLock { duet in status?.keptAttempt.flatMap { duet[$0]?.folder } }
        return files
    }
}

extension LiveDuet {
    /// The attempt whose mix the present turn has in place of the song; nil for the song. A beat stays, since no mix has it.
    var keptMix: UInt32? {
        guard let kept = core?.status(at: .now()).keptAttempt, sound?.path != nil, self[kept]?.mixPath != nil else {
            return nil
        }
        return kept
    }
}

extension DuetFolder {
    /// The name of a stem that is being copied.
    private static let copyName = ".kept.flac"

    /// Copies the stems of another take of the song, except those of singers who have one here.
    mutating func keepStems(ofTake path: String) throws(DuetFolderError) {
        let other = try DuetFolder(path: path)
        for track in other.manifest.tracks where track.kind == .voice {
            let voices = manifest.tracks.filter { $0.kind == .voice && $0.key == track.key }
            guard !voices.contains(where: { track.key != nil || $0.name == track.name }) else { continue }
            let copy = "\(self.path)/\(Self.copyName)"
            do throws(AudioFileError) {
                let source = try ReadableFile("\(other.path)/\(track.file)")
                try AtomicFileReplacement(of: copy, copying: source, isPrivate: true).commit()
            } catch { throw .output(error) }
            try addStem(
                path: copy, singer: track.name, key: track.key.flatMap { KeyFingerprint(hex: $0) }, isLocal: false,
                part: track.voicePart)
        }
    }
}
