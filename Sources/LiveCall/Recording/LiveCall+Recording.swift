// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotCall
import EarshotMediaTransport
import EarshotRooms

/// The recording of the call. For the call's thread, but for ``updateRecording(_:at:)``.
extension LiveCall {
    /// Refuses a command to record to a folder in which no files can be created. Waits for the disk.
    func checkRecordingFolder(of command: LiveCallCommand) throws(CommandRefusal) {
        guard case .startRecording(let folder) = command,
            snapshot.availability(of: .startRecording) == .available
        else { return }
        do throws(CallRecordingError) {
            try RecordingFolder.check(folder)
        } catch {
            if case .folder(let path, let code) = error { throw .folderNotWritable(path: path, code: code) }
        }
    }

    func startRecording(folder: String?) {
        do throws(CallRecordingError) {
            try makeRecording(folder)
        } catch {
            handle(.recordingFailed(error, isOver: true))
        }
    }

    private func makeRecording(_ wantedFolder: String?) throws(CallRecordingError) {
        guard let media else { return }
        let (state, room) = self.state.withLock { state in
            (recordedState(state), state.core.snapshot.room?.name.text ?? "")
        }
        let folder = try RecordingFolder.create(wantedFolder, room: room)
        let recording: CallRecording
        do throws(CodecError) {
            recording = try media.startRecording(includesRawVoice: configuration.recording.recordsRawVoice)
        } catch { throw .codec(error) }
        let writer: CallRecordingWriter
        do throws(AudioFileError) {
            writer = try CallRecordingWriter(
                recording, folder: folder, configuration.recording, state: state, room: room)
        } catch {
            media.endRecording()
            throw .file(error)
        }
        let recorder = CallRecorder(writer, state: state) { [weak self] report in
            switch report {
            case .failed(let error):
                self?.noteRecordingFailure(error)
                self?.handle(.recordingFailed(error, isOver: false))
            case .ended(let result):
                media.endRecording()
                self?.recorder.withLock { $0 = nil }
                self?.handle(.recordingEnded(result))
            }
        }
        song.withLock { song in
            if let song { recorder.setTake(song.makeLog()) }
            self.recorder.withLock { $0 = recorder }
        }
        handle(.recordingStarted(folder: folder))
        let code = recorder.start()
        guard code == 0 else {
            self.recorder.withLock { $0 = nil }
            media.endRecording()
            throw .system(code: code)
        }
    }

    /// Ends the recording without waiting for its files.
    func stopRecording() { recorder.withLock { $0?.end() } }

    /// Ends the recording, if there is one, and waits for its files, which have no tags yet.
    func finishRecording() -> CallRecorder? {
        let recorder = recorder.withLock { $0 }
        recorder?.finish()
        return recorder
    }

    /// Passes the state of the call to the recording. Any thread.
    func updateRecording(_ state: State, at now: HostTime) {
        // Under the lock: a reference that outlives the recording would wait for its thread, which may wait for this one.
        recorder.withLock { $0?.update(recordedState(state), at: now) }
    }

    private func recordedState(_ state: State) -> RecordedCallState {
        RecordedCallState(
            state.core.snapshot, state.levels,
            processingLatency: media?.voice.map { $0.processing == .on ? $0.processingLatency : 0 } ?? 0)
    }
}

extension RecordedCallState {
    /// - Parameter processingLatency: the seconds by which voice processing delays the voice.
    init(_ snapshot: LiveCallSnapshot, _ levels: LiveCallLevels, processingLatency: Double = 0) {
        self.init(name: snapshot.localParticipant?.name.text ?? "", key: snapshot.localParticipant?.key)
        self.processingLatency = processingLatency
        if let device = snapshot.device {
            calibratedDelay = device.delayKnowledge.delay
            deviceLatency = device.inputLatency + device.outputLatency + (calibratedDelay?.correction ?? 0)
            hasSeparateMicrophone = device.hasSeparateInput
        }
        participants = snapshot.participants.map { participant in
            let playout = levels.participants[participant.id]?.playout
            return RecordedParticipant(
                peer: PeerID(Int(participant.id.number)), key: participant.key, name: participant.name.text,
                allowsRecording: participant.allowsRecording,
                isPresent: participant.isConnected && !participant.isAway, volume: participant.gain,
                liveDepth: playout.flatMap { $0.isStarted ? $0.targetDepth : nil })
        }
    }
}
