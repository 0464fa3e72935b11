// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import EarshotDuet
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms

/// The attempts of a duet: each is recorded, rendered to a stem on the song's timeline, exchanged, and mixed.
extension LiveCall {
    /// The time between two tries to send a stem.
    private static let retryTime = Duration.seconds(5)
    /// The tries to send a stem.
    private static let tryLimit = 10

    /// Records an attempt to a folder of its own.
    func record(_ attempt: UInt32) {
        let (song, songPath) = duet.withLock { ($0.core?.status(at: .now()).song, $0.songPath) }
        let snapshot = snapshot
        guard let song, let songPath, let own = snapshot.localParticipant else { return }
        do throws(CallRecordingError) {
            let folder: String
            if let present = duet.withLock({ $0.folder }) {
                folder = present
            } else {
                folder = try RecordingFolder.createPlain(in: configuration.duetFolder, named: song.title)
                duet.withLock { $0.folder = folder }
            }
            // A singer who takes the agreement back and agrees again has a further folder.
            let path = try "\(folder)/\(RecordingFolder.makeUnique(in: folder, "take \(attempt)"))"
            do throws(DuetFolderError) {
                _ = try DuetFolder(
                    creating: path, name: snapshot.room?.name.text ?? song.title, recordedBy: own.name.text,
                    song: songPath, program: configuration.recording.program)
            } catch { duet.withLock { $0.note(.files(error)) } }
            duet.withLock { $0.attempts[attempt] = LiveDuet.Attempt(folder: path) }
            do throws(CommandRefusal) {
                try perform(.startRecording(folder: "\(path)/recording"))
            } catch { duet.withLock { $0.note(.recording(error)) } }
        } catch {
            guard case .folder(let path, let code) = error else { return }
            duet.withLock { $0.note(.folder(path: path, code: code)) }
        }
    }

    /// Renders the stem of each attempt whose recording has ended, and mixes the attempts that are complete.
    func finishAttempts(_ snapshot: LiveCallSnapshot, at now: HostTime) {
        let isRecording = snapshot.recording != nil || snapshot.isRecordingAwaited
        let (stems, mixes) = duet.withLock { duet in
            let singers = Set(duet.core?.status(at: now).singers.filter(\.hasAgreed).map(\.member) ?? [])
            var (stems, mixes): ([UInt32], [UInt32]) = ([], [])
            for (number, attempt) in duet.attempts.sorted(by: { $0.key < $1.key }) {
                if attempt.isOver, !isRecording, !attempt.isStemRequested {
                    duet.attempts[number]?.isStemRequested = true
                    stems.append(number)
                }
                guard let stemTime = attempt.stemTime, !attempt.isMixRequested else { continue }
                let missing = singers.subtracting(attempt.stems).subtracting(attempt.refusedStems)
                guard missing.isEmpty || now.seconds(since: stemTime) > LiveDuet.stemTime else { continue }
                duet.attempts[number]?.isMixRequested = true
                mixes.append(number)
            }
            return (stems, mixes)
        }
        for attempt in stems { makeStem(attempt, snapshot) }
        for attempt in mixes { mix(attempt) }
    }

    // MARK: The local stem

    private func makeStem(_ number: UInt32, _ snapshot: LiveCallSnapshot) {
        guard let own = snapshot.localParticipant else { return }
        let (attempt, songPath) = duet.withLock { ($0.attempts[number], $0.songPath) }
        guard let attempt, let songPath else { return }
        Task { [self] in
            do {
                let (path, stem) = try await duetFiles.run { [self] in
                    try makeStem(number, of: attempt, song: songPath, by: own)
                }
                duet.withLock { duet in
                    duet.attempts[number]?.stems.insert(own.id)
                    duet.attempts[number]?.stemTime = .now()
                    duet.core?.setStem(stem)
                }
                await sendStem(path)
            } catch {
                duet.withLock { duet in
                    duet.note(.stem(of: nil, error))
                    duet.attempts[number]?.stemTime = .now()
                }
            }
            duet.withLock { $0.attempts[number]?.isSending = false }
        }
    }

    private func makeStem(_ number: UInt32, of attempt: LiveDuet.Attempt, song: String, by own: Participant) throws
        -> (path: String, stem: DuetStem)
    {
        let stem = try AlignedStem.write(
            takesOf: attempt.recordingFolder, song: song, to: "\(attempt.folder)/.stem.flac")
        if let fault = stem.faults.first { duet.withLock { $0.note(.stem(of: nil, fault)) } }
        var folder = try DuetFolder(path: attempt.folder)
        let path = try folder.addStem(
            path: stem.path, singer: own.name.text, key: own.key, isLocal: true, gaps: stem.gaps)
        let (hash, byteCount) = try SongFile.hash(path, limit: DuetStem.largestFile)
        return (path, DuetStem(attempt: number, byteCount: byteCount, hash: hash))
    }

    /// Sends a stem to all singers, again to those that did not get it.
    private func sendStem(_ path: String) async {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        var waiting = duet.withLock { $0.core?.status(at: .now()).singers.map(\.member) ?? [] }
        for number in 1...Self.tryLimit where !waiting.isEmpty {
            var reasons: [MemberID: TransferError] = [:]
            do throws(TransferError) {
                let file = try await room.sendFile(at: path, to: waiting)
                do throws(TransferFailure) { try await file.finished() } catch { reasons = error.reasons }
            } catch { return duet.withLock { $0.note(.notSent(name: name, to: waiting[0], error)) } }
            waiting = reasons.keys.sorted()
            guard number == Self.tryLimit else {
                if !waiting.isEmpty { try? await Task.sleep(for: Self.retryTime) }
                continue
            }
            for (member, reason) in reasons { duet.withLock { $0.note(.notSent(name: name, to: member, reason)) } }
        }
    }

    // MARK: Files of others

    /// The bytes of a second of the largest stem: two channels of 24 bits at 192 kHz.
    private static let stemBytesPerSecond = 192_000.0 * 2 * 3
    /// Seconds for which a file waits for the announcement that asks for it.
    private static let announcementTime = 2.0

    /// Receives a file that belongs to the duet. Returns false for any other file.
    func receiveForDuet(_ file: IncomingFile, from member: MemberID) async -> Bool {
        let end = HostTime.now().advanced(bySeconds: Self.announcementTime)
        repeat {
            let duet = duet.withLock { $0.core?.status(at: .now()) }
            guard let duet else { return false }
            if let song = duet.song, song.hash == file.hash.hex, song.byteCount == file.size {
                await receive(song, file, from: member)
                return true
            }
            if let song = duet.song, let stem = duet.singers.first(where: { $0.member == member })?.stem,
                stem.hash == file.hash.hex, stem.byteCount == file.size,
                Double(stem.byteCount) <= (song.duration + 1) * Self.stemBytesPerSecond
            {
                await receive(stem, file, from: member)
                return true
            }
            try? await Task.sleep(for: .milliseconds(50))
        } while HostTime.now() < end && !Task.isCancelled
        return false
    }

    private func receive(_ song: DuetSong, _ file: IncomingFile, from member: MemberID) async {
        guard duet.withLock({ $0.core?.status(at: .now()).phase == .gettingSong }) else { return file.decline() }
        let folder = configuration.songFolder
        if let code = PathText.makeFolder(folder, mode: 0o700) {
            duet.withLock { $0.note(.folder(path: folder, code: code)) }
            return file.decline()
        }
        do throws(TransferError) {
            try await file.accept(into: folder)
            duet.withLock { $0.arrivedPart = 0 }
            let progress = Task { [self] in
                for await progress in file.progress {
                    let part = progress.size > 0 ? Double(progress.bytes) / Double(progress.size) : 1
                    duet.withLock { $0.arrivedPart = part }
                }
            }
            defer { progress.cancel() }
            let path = try await file.finished()
            duet.withLock { $0.arrivedPart = nil }
            openSong(song, path: path)
        } catch {
            duet.withLock { duet in
                duet.arrivedPart = nil
                duet.note(.notReceived(name: song.name, error))
            }
        }
    }

    private func receive(_ stem: DuetStem, _ file: IncomingFile, from member: MemberID) async {
        let singer = state.withLock { $0.core.snapshot[member] }
        let attempt = duet.withLock { duet -> LiveDuet.Attempt? in
            // One stem of each singer.
            guard let attempt = duet.attempts[stem.attempt], !attempt.stems.contains(member) else { return nil }
            return duet.attempts[stem.attempt]?.arrivingStems.insert(member).inserted == true ? attempt : nil
        }
        guard let attempt, let singer else { return file.decline() }
        defer { duet.withLock { _ = $0.attempts[stem.attempt]?.arrivingStems.remove(member) } }
        do {
            try await file.accept(into: attempt.folder)
            let path = try await file.finished()
            try await duetFiles.run {
                var folder = try DuetFolder(path: attempt.folder)
                try folder.addStem(path: path, singer: singer.name.text, key: singer.key, isLocal: false)
            }
            duet.withLock { _ = $0.attempts[stem.attempt]?.stems.insert(member) }
        } catch {
            duet.withLock { duet in
                duet.note(.stem(of: member, error))
                duet.attempts[stem.attempt]?.refusedStems.insert(member)
            }
        }
    }

    // MARK: The mix

    private func mix(_ number: UInt32) {
        guard let attempt = duet.withLock({ $0.attempts[number] }) else { return }
        Task { [self] in
            do {
                let path = "\(attempt.folder)/mix.m4a"
                try await duetFiles.run {
                    let source = try MixSource(folder: attempt.folder)
                    let encoding = SoundFiles.Settings(sampleFormat: .int24)
                    _ = try MixFile(source, MixSettings(for: source), encoding: encoding).write(to: path, type: .m4a)
                }
                duet.withLock { duet in
                    duet.attempts[number]?.mixPath = path
                    duet.core?.setMix(number)
                }
            } catch {
                duet.withLock { $0.note(.mix(error)) }
            }
            duet.withLock { $0.attempts[number]?.isMixed = true }
        }
    }
}

/// Does the work on the files of attempts, one after the other.
actor DuetFiles {
    func run<Result: Sendable>(_ work: @Sendable () throws -> Result) throws -> Result { try work() }
}
