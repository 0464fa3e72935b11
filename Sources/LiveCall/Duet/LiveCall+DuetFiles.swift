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
            if let guide = song.guide, guide.hash == file.hash.hex, guide.byteCount == file.size {
                await receive(guide, of: song, file, from: member)
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
        let isWanted = accepts(song.byteCount, from: member, \.arrivedPart) {
            $0.status(at: .now()).phase == .gettingSong
        }
        guard isWanted else { return file.decline() }
        if let path = await receiveSongFile(file, of: song, \.arrivedPart) { openSong(song, .file(path)) }
    }

    private func receive(_ guide: DuetGuide, of song: DuetSong, _ file: IncomingFile, from member: MemberID) async {
        let isWanted = accepts(guide.byteCount, from: member, \.arrivedGuidePart) { $0.presentGuide != guide.hash }
        guard isWanted else { return file.decline() }
        if let path = await receiveSongFile(file, of: song, \.arrivedGuidePart) { setGuide(guide, path) }
    }

    /// Returns true if the host's file is wanted, and notes that it is arriving.
    /// - Parameters:
    ///   - part: the part of the file that has arrived.
    ///   - isMissing: returns true while the file is not here.
    private func accepts(
        _ byteCount: Int64, from member: MemberID, _ part: WritableKeyPath<LiveDuet, Double?>,
        _ isMissing: (DuetCore<MemberID>) -> Bool
    ) -> Bool {
        let isHost = state.withLock { $0.core.snapshot[member]?.isHost ?? false }
        return duet.withLock { duet in
            guard isHost, let core = duet.core, isMissing(core), duet[keyPath: part] == nil else { return false }
            guard duet.acceptedSongBytes + byteCount <= LiveDuet.songLimit else {
                duet.note(.tooManySongs(limit: LiveDuet.songLimit))
                return false
            }
            duet.acceptedSongBytes += byteCount
            duet[keyPath: part] = 0
            return true
        }
    }

    /// Receives a file of a song into the folder of songs. Returns its path; nil after a failure, which is noted.
    private func receiveSongFile(
        _ file: IncomingFile, of song: DuetSong, _ part: WritableKeyPath<LiveDuet, Double?> & Sendable
    ) async -> String? {
        /// Sets the part that has arrived, unless the host has chosen another song.
        @Sendable func setPart(_ value: Double?) {
            duet.withLock { if $0.core?.song?.hash == song.hash { $0[keyPath: part] = value } }
        }
        let folder = configuration.songFolder
        if let code = PathText.makeFolder(folder, mode: 0o700) {
            duet.withLock { $0.note(.folder(path: folder, code: code)) }
            setPart(nil)
            file.decline()
            return nil
        }
        do throws(TransferError) {
            try await file.accept(into: folder)
            let progress = Task {
                for await progress in file.progress {
                    setPart(progress.size > 0 ? Double(progress.bytes) / Double(progress.size) : 1)
                }
            }
            defer { progress.cancel() }
            let path = try await file.finished()
            setPart(nil)
            return path
        } catch {
            setPart(nil)
            duet.withLock { $0.note(.notReceived(name: song.name, error)) }
            return nil
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
                    try folder.addStem(
                        path: path, singer: singer.name.text, key: singer.key, isLocal: false,
                        part: attempt.parts[member])
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
