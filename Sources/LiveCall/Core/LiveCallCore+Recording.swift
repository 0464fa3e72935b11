// SPDX-License-Identifier: Apache-2.0

import EarshotRooms

/// The local recording, and the recordings of others.
extension LiveCallCore {
    /// The state of the local recording.
    enum Recording: Hashable, Sendable {
        case idle
        /// The recording starts when the sound has started; nil for the default folder.
        case awaited(folder: String?)
        /// The recording was started, and has not ended.
        case started
        /// The end of the recording was requested.
        case ending
    }

    mutating func startRecording(_ folder: String?) throws(CommandRefusal) {
        guard recording == .idle else { throw .alreadyRecording }
        recording = .awaited(folder: folder)
        if case .running = next.sound { return }
        notify(.settingChanged(.startRecording(folder: folder), nil))
    }

    mutating func stopRecording() throws(CommandRefusal) {
        switch recording {
        case .idle: throw .notRecording
        case .awaited:
            recording = .idle
            notify(.settingChanged(.stopRecording, nil))
        case .started:
            recording = .ending
            act(.media(.stopRecording))
        case .ending: break
        }
    }

    /// Starts a recording that waits for the sound.
    mutating func startAwaitedRecording() {
        guard case .awaited(let folder) = recording, case .running = next.sound, next.isInRoom else { return }
        recording = .started
        act(.media(.startRecording(folder: folder)))
    }

    mutating func handleRecording(_ event: Event) {
        switch event {
        case .recordingStarted(let folder):
            next.recording = CallRecordingStatus(folder: folder, since: now)
            noticeRecording(true)
            notify(.recordingStarted(folder: folder))
        case .recordingFailed(let error, let isOver):
            if isOver { endRecording() }
            notify(.recordingFailed(error))
        case .recordingEnded(let result):
            endRecording()
            notify(.recordingEnded(result))
        default: break
        }
    }

    private mutating func endRecording() {
        recording = .idle
        guard next.recording != nil else { return }
        next.recording = nil
        noticeRecording(false)
    }

    /// Tells the room whether the local participant records. After the call's end the room has forgotten it.
    private mutating func noticeRecording(_ isRecording: Bool) {
        if next.ending == nil { act(.room(.notify(ParticipantNotice(isRecording: isRecording)))) }
    }

    // MARK: Recordings of others

    mutating func allowRecording(_ isAllowed: Bool) {
        guard next.allowsRecording != isAllowed else { return }
        changeSetting(\.allowsRecording, to: isAllowed, by: .allowRecording(isAllowed))
        act(.room(.notify(ParticipantNotice(allowsRecording: isAllowed))))
    }

    /// Reports the participants who began or ended a recording. Answers the first of them, or asks the user.
    mutating func reportRecordings() {
        guard next.isInRoom else { return }
        let recording = next.participants.filter(\.isRecording)
        let changed = next.participants.filter { $0.isRecording != reportedRecordings.contains($0.id) }
        reportedRecordings = Set(recording.map(\.id))
        for participant in changed { notify(.participantRecording(participant)) }
        if recording.isEmpty { hasAskedForConsent = false }
        guard !recording.isEmpty, next.allowsRecording == nil else { return }
        switch next.sound == .none ? .no : configuration.recordingConsent {  // without sound there is no voice
        case .yes: allowRecording(true)
        case .no: allowRecording(false)
        case .ask:
            guard !hasAskedForConsent else { return }
            hasAskedForConsent = true
            notify(.recordingConsentRequested(recording))
        }
    }
}
