// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotDuet
import EarshotRooms

/// The folders of an attempt's take.
extension LiveCall {
    /// Creates the folders of an attempt. If an earlier program of this singer began the attempt, and was killed, its folders are used.
    func makeTakeFolders(
        _ identity: RecordingManifest.Attempt, _ song: DuetSong
    ) throws(CallRecordingError) -> TakeFolders {
        if let id = identity.id, let key = identity.key,
            var folders = TakeFolders.find(id: id, key: key, song: song, in: configuration.duetFolder)
        {
            folders.addRecording()
            let parent = folders.parent
            duet.withLock { $0.folder = $0.folder ?? parent }
            return folders
        }
        let folder: String
        if let present = duet.withLock({ $0.folder }) {
            folder = present
        } else {
            folder = try RecordingFolder.createUnclaimed(in: configuration.duetFolder, named: song.title)
            duet.withLock { $0.folder = folder }
        }
        let name = try RecordingFolder.makeUnique(in: folder, "take \(identity.number)")
        var folders = TakeFolders(folder: "\(folder)/\(name)")
        folders.addRecording()
        return folders
    }

    /// Copies the song to the folder of an attempt, and describes it, so that a program that is killed leaves a take which can be found
    /// and mixed. Does not wait.
    func describeTake(_ attempt: LiveDuet.Attempt) {
        Task { [self] in
            // A song that cannot be copied is a problem of the stem.
            try? await duetFiles.run { [self] in _ = try duetFolder(of: attempt) }
        }
    }

    /// Opens the attempt's folder. Describes it and copies the song if it has no description.
    func duetFolder(of attempt: LiveDuet.Attempt) throws(DuetFolderError) -> DuetFolder {
        let snapshot = snapshot
        return try DuetFolder(
            take: attempt.folder, name: snapshot.room?.name.text ?? "",
            recordedBy: snapshot.localParticipant?.name.text ?? "", song: attempt.sound,
            title: attempt.songTitle, program: configuration.recording.program, attempt: attempt.identity)
    }
}
