// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import EarshotDuet
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms

/// The attempts of a duet: each is recorded, rendered to a stem on the song's timeline, sent, and mixed.
extension LiveCall {
    // MARK: The recording

    /// Records the attempt that waits, as soon as no recording of an earlier attempt runs.
    func startAwaitedTake(_ snapshot: LiveCallSnapshot) {
        let isRecording = snapshot.recording != nil || snapshot.isRecordingAwaited
        leaveUnrecordedTake(isRecording: isRecording)
        let attempt = duet.withLock { duet -> UInt32? in
            if !isRecording { (duet.ownsRecording, duet.hasRecordingFailed) = (false, false) }
            guard let attempt = duet.awaitedRecording, !isRecording || !duet.ownsRecording else { return nil }
            duet.awaitedRecording = nil
            return attempt
        }
        guard let attempt else { return }
        guard !isRecording else { return duet.withLock { $0.note(.recording(.alreadyRecording)) } }
        record(attempt, by: snapshot.localParticipant)
    }

    private func record(_ number: UInt32, by own: Participant?) {
        do throws(CallRecordingError) {
            guard let files = try makeAttempt(number, by: own) else { return }
            do throws(CommandRefusal) {
                try perform(.startRecording(folder: files.recordingFolder))
                duet.withLock { duet in
                    duet[number] = files
                    duet.ownsRecording = true
                }
                describeTake(files)
            } catch {
                duet.withLock { duet in
                    duet.note(.recording(error))
                    duet.core?.leaveUnrecorded(number)
                }
            }
        } catch {
            duet.withLock { duet in
                if case .folder(let path, let code) = error { duet.note(.folder(path: path, code: code)) }
                duet.note(.recordingLost)
                duet.core?.leaveUnrecorded(number)
            }
        }
    }

    /// Ends the recording of an attempt, if it runs.
    func finishTake(_ attempt: UInt32) {
        let isRecorded = duet.withLock { duet in
            duet.awaitedRecording = nil
            guard let files = duet[attempt], !files.isOver, !files.isSung || duet.ownsRecording else { return false }
            duet[attempt]?.isOver = true
            // The voice of another singer's turn is awaited from now on.
            if !files.isSung { duet[attempt]?.stemTime = .now() }
            return files.isSung
        }
        if isRecorded { try? perform(.stopRecording) }  // refused if the recording has failed
    }

    /// Renders the stem of each attempt whose recording has ended, and mixes the attempts that are complete.
    func finishAttempts(_ snapshot: LiveCallSnapshot, at now: HostTime) {
        let isRecording = snapshot.recording != nil || snapshot.isRecordingAwaited
        let (stems, mixes) = duet.withLock { duet in
            duet.noteSingers(snapshot, at: now)
            let present = Set((duet.core?.status(at: now).singers ?? []).map(\.member))
            var (stems, mixes): ([(UInt32, LiveDuet.Attempt)], [(UInt32, LiveDuet.Attempt)]) = ([], [])
            for (number, files) in duet.attempts {
                if files.isOver, !isRecording, !files.isStemRequested {
                    duet.update(files.folder) { $0.isStemRequested = true }
                    stems.append((number, files))
                }
                guard files.needsMix(at: now, with: present) else { continue }
                duet.update(files.folder) { ($0.isMixRequested, $0.isMixing) = (true, true) }
                mixes.append((number, files))
            }
            return (stems, mixes)
        }
        guard let own = snapshot.localParticipant else { return }
        for (number, files) in stems {
            Task { [self] in
                if let path = await makeStem(number, files, by: own) { await sendStem(path, of: files) }
            }
        }
        for (number, files) in mixes { Task { [self] in await mix(number, files) } }
    }

    /// Renders and mixes the attempts that are not complete, after the end of the call. Voices of others that have not arrived are
    /// missing.
    package func finishTakes() async {
        let own = snapshot.localParticipant
        while duet.withLock({ $0.attempts.contains { $0.files.isStemRequested && $0.files.stemTime == nil } }) {
            try? await Task.sleep(for: .milliseconds(50))
        }
        guard let own else { return }
        for (number, files) in duet.withLock({ $0.attempts }) {
            if !files.isStemRequested { _ = await makeStem(number, files, by: own) }
            let isUnmixed = duet.withLock { duet in
                duet.attempts.contains { $0.files.folder == files.folder && !$0.files.isMixed && $0.files.hasVoice }
            }
            if isUnmixed {
                duet.withLock { duet in duet.update(files.folder) { $0.isMixRequested = true } }
                await mix(number, files)
            }
        }
    }

    // MARK: The local stem

    /// Renders the local stem and announces it. Returns its path; nil after an error, which is noted.
    private func makeStem(_ number: UInt32, _ attempt: LiveDuet.Attempt, by own: Participant) async -> String? {
        do {
            let (path, stem) = try await duetFiles.run { [self] in
                let stem = try AlignedStem.write(
                    takesOf: attempt.recordingFolders, song: attempt.sound,
                    to: "\(attempt.recordingFolder)/.stem.flac")
                if let fault = stem.faults.first { duet.withLock { $0.note(.stem(of: nil, fault)) } }
                var folder = try duetFolder(of: attempt)
                let path = try folder.addStem(
                    path: stem.path, singer: own.name.text, key: own.key, isLocal: true, part: attempt.part,
                    gaps: stem.gaps,
                    recordingCount: attempt.recordingFolders.count)
                let (hash, byteCount) = try SongFile.hash(path, limit: DuetStem.largestFile)
                return (path, DuetStem(attempt: number, byteCount: byteCount, hash: hash))
            }
            duet.withLock { duet in
                duet.update(attempt.folder) { files in
                    files.stemTime = .now()
                    files.stems.insert(own.id)
                    files.receivers = files.singers.union(files.listeners)
                }
                duet.core?.setStem(stem)
            }
            return path
        } catch {
            duet.withLock { duet in
                // A singer who left before the song has sung nothing.
                let status = duet.core?.status(at: .now())
                let isLeft = status?.attempt == number && status?.hasLeft == true
                let isSilence = (error as? StemError)?.isSilence == true
                if !isLeft || !isSilence { duet.note(.ownStem(error)) }
                duet.update(attempt.folder) { files in
                    files.stemTime = .now()
                    // The voices of others make a mix if they arrive.
                    (files.isMixRequested, files.isMixed) = (true, true)
                }
            }
            return nil
        }
    }

    // MARK: The mix

    private func mix(_ number: UInt32, _ attempt: LiveDuet.Attempt) async {
        do {
            let path = "\(attempt.folder)/mix.m4a"
            let missing = duet.withLock { $0.missingSingers(in: attempt.folder) }
            let preset = attempt.preset
            let (source, balance) = try await duetFiles.run {
                if let kept = attempt.keptFolder {
                    var folder = try duetFolder(of: attempt)
                    try folder.keepStems(ofTake: kept)
                }
                let source = try MixSource(folder: attempt.folder)
                let encoding = SoundFiles.Settings(sampleFormat: .int24)
                var (settings, balance) = (MixSettings(for: source), attempt.balance)
                settings.preset = preset
                balance.setVoices(of: source)
                balance.apply(to: &settings)
                _ = try MixFile(source, settings, encoding: encoding).write(to: path, type: .m4a)
                return (source, balance)
            }
            duet.withLock { duet in
                duet.update(attempt.folder) { files in
                    (files.mixPath, files.mixMissing, files.mixPreset) = (path, missing, preset)
                    files.mixBalance = balance
                    // Another voice may have been changed meanwhile.
                    files.balance.setVoices(of: source)
                }
                if duet.playedMix == number { duet.isMixStale = true }
                duet.core?.setMix(number)
            }
        } catch {
            duet.withLock { $0.note(.mix(error)) }
        }
        // A mix that was asked for meanwhile comes next.
        duet.withLock { duet in
            duet.update(attempt.folder) { ($0.isMixed, $0.isMixing) = ($0.isMixRequested, false) }
        }
    }
}

/// Does the work on the files of attempts, one after the other.
actor DuetFiles {
    func run<Result: Sendable>(_ work: @Sendable () throws -> Result) throws -> Result { try work() }
}
