// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotDuet
import EarshotNearby
import EarshotRooms
import Glibc

/// The files of a duet that others send: the host's song, and the stems of the singers. Each was announced by its hash.
extension LiveCall {
    /// The bytes of a second of the largest stem: two channels of 24 bits at 192 kHz.
    private static let stemBytesPerSecond = 192_000.0 * 2 * 3

    /// Receives a file that belongs to the duet. Returns false for any other file.
    func receiveForDuet(_ file: IncomingFile, from member: MemberID) async -> Bool {
        let end = HostTime.now().advanced(bySeconds: duet.withLock { $0.announcementTime })
        var isRepeated = false
        repeat {
            guard let core = duet.withLock({ $0.core }), let song = core.song else { return false }
            let status = core.status(at: .now())
            if song.hash == file.hash.hex, song.byteCount == file.size {
                await receive(song, file, from: member)
                return true
            }
            if let stem = status.singers.first(where: { $0.member == member })?.stem,
                stem.hash == file.hash.hex, stem.byteCount == file.size,
                case let duration = duet.withLock({ $0[stem.attempt]?.duration }) ?? song.duration,
                Double(stem.byteCount) <= (duration + 1) * Self.stemBytesPerSecond
            {
                // Silent voices are equal, so the file may be that of an attempt which is announced in a moment.
                isRepeated = duet.withLock { $0[stem.attempt]?.stems.contains(member) ?? false }
                guard isRepeated else {
                    await receive(stem, file, from: member)
                    return true
                }
            }
            guard
                isRepeated || status.hasLeft || status.phaseOfOthers != nil
                    || duet.withLock({ $0.awaitsStem(of: member) })
            else {
                return false
            }
            try? await Task.sleep(for: .milliseconds(50))
        } while HostTime.now() < end && !Task.isCancelled
        if isRepeated { file.decline() }
        return isRepeated
    }

    private func receive(_ song: DuetSong, _ file: IncomingFile, from member: MemberID) async {
        let isHost = state.withLock { $0.core.snapshot[member]?.isHost ?? false }
        let isWanted = duet.withLock { duet in
            guard isHost, duet.core?.status(at: .now()).phase == .gettingSong, duet.arrivedPart == nil else {
                return false
            }
            guard duet.acceptedSongBytes + song.byteCount <= LiveDuet.songLimit else {
                duet.note(.tooManySongs(limit: LiveDuet.songLimit))
                return false
            }
            duet.acceptedSongBytes += song.byteCount
            duet.arrivedPart = 0
            return true
        }
        guard isWanted else { return file.decline() }
        let folder = configuration.songFolder
        if let code = PathText.makeFolder(folder, mode: 0o700) {
            duet.withLock { duet in
                duet.note(.folder(path: folder, code: code))
                duet.arrivedPart = nil
            }
            return file.decline()
        }
        do throws(TransferError) {
            try await file.accept(into: folder)
            let progress = Task { [self] in
                for await progress in file.progress {
                    let part = progress.size > 0 ? Double(progress.bytes) / Double(progress.size) : 1
                    duet.withLock { if $0.core?.song?.hash == song.hash { $0.arrivedPart = part } }
                }
            }
            defer { progress.cancel() }
            let path = try await file.finished()
            duet.withLock { if $0.core?.song?.hash == song.hash { $0.arrivedPart = nil } }
            openSong(song, .file(path))
        } catch {
            duet.withLock { duet in
                if duet.core?.song?.hash == song.hash { duet.arrivedPart = nil }
                duet.note(.notReceived(name: song.name, error))
            }
        }
    }

    private func receive(_ stem: DuetStem, _ file: IncomingFile, from member: MemberID) async {
        let singer = state.withLock { $0.core.snapshot[member] }
        let attempt = duet.withLock { duet -> LiveDuet.Attempt? in
            // One stem of each singer of the attempt.
            guard let attempt = duet[stem.attempt], attempt.singers.contains(member),
                !attempt.stems.contains(member), !attempt.refusedStems.contains(member)
            else { return nil }
            return duet[stem.attempt]?.arrivingStems.insert(member).inserted == true ? attempt : nil
        }
        guard let attempt, let singer else { return file.decline() }
        // Two equal files cannot arrive at once, since one would go on with the bytes of the other.
        while !duet.withLock({ $0.arrivingHashes.insert(stem.hash).inserted }) {
            try? await Task.sleep(for: .milliseconds(50))
        }
        defer { duet.withLock { _ = $0.arrivingHashes.remove(stem.hash) } }
        do {
            try await file.accept(into: attempt.recordingFolder)
            let path = try await file.finished()
            do {
                try await duetFiles.run { [self] in
                    var folder = try duetFolder(of: attempt)
                    try folder.addStem(path: path, singer: singer.name.text, key: singer.key, isLocal: false)
                }
                duet.withLock { duet in duet.update(attempt.folder) { $0.add(stemOf: member) } }
            } catch {
                unlink(PathText.bytes(path))
                duet.withLock { duet in duet.update(attempt.folder) { $0.refusedStems.insert(member) } }
                throw error
            }
        } catch {
            duet.withLock { $0.note(.stem(of: member, error)) }
        }
        duet.withLock { duet in duet.update(attempt.folder) { $0.arrivingStems.remove(member) } }
    }
}
