// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotDuet
import EarshotMediaTransport

/// The result of an attempt, for the end of the program.
package enum DuetTakeResult: Hashable, Sendable {
    /// The mix is complete.
    case mix(path: String)
    /// The folder has voices and no mix.
    case voices(folder: String)
    /// The folder has the recording of the local voice.
    case recording(folder: String)
    case nothing
}

/// The checks of the takes' folder.
extension LiveCall {
    /// The bytes of a second: the recording of the local voice with 32 bits, each stem with 24 bits, and the mix with 320 kbit/s.
    private static let voiceBytesPerSecond = 48_000.0 * 4
    private static let stemBytesPerSecond = 48_000.0 * 3
    private static let mixBytesPerSecond = 40_000.0
    /// The bytes that should stay free.
    private static let spaceMargin: Int64 = 32 << 20

    /// Returns the bytes that an attempt needs.
    /// - Parameter voices: the number of singers, with the local one.
    static func neededSpace(for song: DuetSong, voices: Int) -> Int64 {
        let bytesPerSecond = voiceBytesPerSecond + Double(voices) * stemBytesPerSecond + mixBytesPerSecond
        let sound = Int64(max(0, min(song.duration, DuetSong.longestDuration)) * bytesPerSecond)
        let (sum, isOverflow) = song.byteCount.addingReportingOverflow(sound + spaceMargin)
        return isOverflow ? .max : sum
    }

    /// Refuses an order that begins a take if its files cannot be written. Waits for the disk.
    func checkTakeFolder(for order: DuetOrder) throws(DuetRefusal) {
        switch order {
        case .agree(true), .singAgain, .nextTurn: break
        case .chooseSong, .setGuide, .agree(false), .pause, .resume, .seek, .listen, .mix, .balance, .setMode,
            .setPart:
            return
        }
        let (song, singerCount, present) = duet.withLock {
            ($0.core?.song, $0.core?.status(at: .now()).singers.count ?? 0, $0.folder)
        }
        guard let song else { return }
        let folder = present ?? configuration.duetFolder
        do throws(CallRecordingError) { try RecordingFolder.check(folder) } catch {
            guard case .folder(let path, let code) = error else { return }
            throw .folder(path: path, code: code)
        }
        let needed = Self.neededSpace(for: song, voices: singerCount + 1)
        guard let free = RecordingFolder.freeSpace(folder), free < needed else { return }
        throw .noSpace(path: RecordingFolder.path(of: folder), needed: needed, free: free)
    }

    /// Notes that a file of the recording cannot be written. Any thread.
    func noteRecordingFailure(_ error: CallRecordingError) {
        if case .file = error { duet.withLock { $0.hasRecordingFailed = $0.ownsRecording } }
    }

    /// Leaves the attempt if its recording has failed or has been stopped. The part that was recorded becomes a stem.
    func leaveUnrecordedTake(isRecording: Bool) {
        let isLeft = duet.withLock { duet -> Bool in
            guard duet.ownsRecording, !isRecording || duet.hasRecordingFailed,
                let attempt = duet.core?.status(at: .now()).attempt, duet[attempt]?.isOver == false
            else { return false }
            duet[attempt]?.isOver = true
            duet.note(.recordingLost)
            duet.core?.leaveUnrecorded(attempt)
            return true
        }
        if isLeft, isRecording { try? perform(.stopRecording) }  // refused if it has ended meanwhile
    }

    /// The results of all attempts, in order. Waits for the disk.
    package var duetTakeResults: [DuetTakeResult] {
        // A turn of another singer whose voice did not arrive is no take.
        duet.withLock { $0.attempts.map(\.files) }.filter(\.hasVoice).map { files in
            if let path = files.mixPath { return .mix(path: path) }
            if !files.stems.isEmpty { return .voices(folder: files.folder) }
            let folder = files.recordingFolders.last { folder in
                (PathText.names(inFolder: folder) ?? []).contains { name in
                    name.hasSuffix(".\(configuration.recording.type.fileExtension)")
                        && (PathText.status("\(folder)/\(name)")?.st_size ?? 0) > Self.emptyFileLimit
                }
            }
            return folder.map { .recording(folder: $0) } ?? .nothing
        }
    }

    /// The bytes of a sound file without sound, at most.
    private static let emptyFileLimit = 8_192
}
