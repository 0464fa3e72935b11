// SPDX-License-Identifier: Apache-2.0

import EarshotRooms

/// The local recording, and the recordings of others.
extension LiveCallCore {
    /// The state of the local recording.
    struct Recording: Sendable {
        /// The folder of a recording that waits for the sound; nil if none waits. The inner value is nil for the default folder.
        var awaited: String??
        /// True from the request to start until the recording has ended.
        var isRequested = false
        var isEnding = false
    }

    mutating func startRecording(_ folder: String?) throws(CommandRefusal) {
        guard !recording.isRequested, recording.awaited == nil else { throw .alreadyRecording }
        recording.awaited = .some(folder)
    }

    mutating func stopRecording() throws(CommandRefusal) {
        if recording.awaited != nil {
            recording.awaited = nil
            return
        }
        guard recording.isRequested else { throw .notRecording }
        guard !recording.isEnding else { return }
        recording.isEnding = true
        act(.media(.stopRecording))
    }

    /// Starts a recording that waits for the sound.
    mutating func startAwaitedRecording() {
        guard let folder = recording.awaited, case .running = next.sound, next.isInRoom else { return }
        recording.awaited = nil
        recording.isRequested = true
        act(.media(.startRecording(folder: folder)))
    }

    mutating func handleRecording(_ event: Event) {
        switch event {
        case .recordingStarted(let folder):
            next.recording = CallRecordingStatus(folder: folder, since: now)
            act(.room(.notify(MemberNotice(isRecording: true))))
            notify(.recordingStarted(folder: folder))
        case .recordingFailed(let error, let isOver):
            if isOver { endRecordingState() }
            notify(.recordingFailed(error))
        case .recordingEnded(let result):
            endRecordingState()
            notify(.recordingEnded(result))
        default: break
        }
    }

    private mutating func endRecordingState() {
        recording = Recording()
        guard next.recording != nil else { return }
        next.recording = nil
        if next.ending == nil { act(.room(.notify(MemberNotice(isRecording: false)))) }
    }

    // MARK: Recordings of others

    mutating func allowRecording(_ isAllowed: Bool) {
        guard next.allowsRecording != isAllowed else { return }
        next.allowsRecording = isAllowed
        act(.room(.notify(MemberNotice(allowsRecording: isAllowed))))
    }

    /// Reports the participants who began or ended a recording, and answers the first of them, or asks the user.
    mutating func reportRecorders() {
        guard next.isInRoom else { return }
        let recorders = next.participants.filter(\.isRecording)
        let changed = next.participants.filter { $0.isRecording != reportedRecorders.contains($0.id) }
        reportedRecorders = Set(recorders.map(\.id))
        for participant in changed { notify(.participantRecording(participant)) }
        guard changed.contains(where: \.isRecording), next.allowsRecording == nil, !isConsentRequested else { return }
        isConsentRequested = true
        switch configuration.recordingConsent {
        case .yes: allowRecording(true)
        case .no: allowRecording(false)
        case .ask: notify(.recordingConsentRequested(recorders))
        }
    }
}
