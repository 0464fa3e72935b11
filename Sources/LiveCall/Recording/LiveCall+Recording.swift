// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotCall
import EarshotMediaTransport
import EarshotRooms

/// The recording of the call, for the call's thread.
extension LiveCall {
    func startRecording(folder wanted: String?) {
        do throws(CallRecordingError) {
            try makeRecording(wanted)
        } catch {
            handle(.recordingFailed(error, isOver: true))
        }
    }

    private func makeRecording(_ wanted: String?) throws(CallRecordingError) {
        guard let media else { return }
        let snapshot = snapshot
        let room = snapshot.room?.name.text ?? ""
        let folder = try RecordingFolder.create(wanted, room: room)
        let party = party(snapshot, levels)
        let recording: CallRecording
        do throws(CodecError) {
            recording = try media.startRecording(includesRawVoice: configuration.recording.recordsRawVoice)
        } catch { throw .codec(error) }
        let writer: CallRecordingWriter
        do throws(AudioFileError) {
            writer = try CallRecordingWriter(
                recording, folder: folder, configuration.recording, party: party, room: room)
        } catch {
            media.endRecording()
            throw .file(error)
        }
        let recorder = CallRecorder(writer, party: party) { [weak self] report in
            switch report {
            case .failed(let error): self?.handle(.recordingFailed(.file(error), isOver: false))
            case .ended(let result):
                media.endRecording()
                self?.recorder.withLock { $0 = nil }
                self?.handle(.recordingEnded(result))
            }
        }
        self.recorder.withLock { $0 = recorder }
        handle(.recordingStarted(folder: folder))
        let code = recorder.start()
        guard code == 0 else {
            self.recorder.withLock { $0 = nil }
            media.endRecording()
            throw .system(code: code)
        }
    }

    /// Ends the recording without waiting for its files.
    func stopRecording() { recorder.withLock { $0 }?.end() }

    /// Ends the recording, if there is one, and waits for its files.
    func finishRecording() { recorder.withLock { $0 }?.finish() }

    /// Tells the recording who is in the room.
    func updateRecording(_ snapshot: LiveCallSnapshot, _ levels: LiveCallLevels) {
        guard let recorder = recorder.withLock({ $0 }) else { return }
        recorder.update(party(snapshot, levels))
    }

    private func party(_ snapshot: LiveCallSnapshot, _ levels: LiveCallLevels) -> RecordingParty {
        let participant = snapshot.localParticipant
        var party = RecordingParty(name: participant?.name.text ?? "", key: participant?.key)
        if let device = snapshot.device {
            party.deviceLatency = device.inputLatency + device.outputLatency
            party.hasSeparateMicrophone = device.hasSeparateInput
        }
        if let voice = media?.voice, voice.processing == .on { party.processingLatency = voice.processingLatency }
        party.participants = snapshot.participants.map { participant in
            let playout = levels.participants[participant.id]?.playout
            return RecordedParticipant(
                peer: PeerID(Int(participant.id.number)), key: participant.key, name: participant.name.text,
                allowsRecording: participant.allowsRecording,
                isPresent: participant.isConnected && !participant.isAway, volume: participant.volume,
                liveDepth: playout.flatMap { $0.isStarted ? $0.targetDepth : nil })
        }
        return party
    }
}
