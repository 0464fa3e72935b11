// SPDX-License-Identifier: Apache-2.0

import EarshotAudioSession
import EarshotRooms
import Foundation

/// An error as JSON: a code for programs, and a sentence for people.
package struct ErrorDocument: Error, Codable, Equatable, Sendable {
    /// Lower-case words with hyphens. docs/call-events.md lists the codes.
    package var code: String
    /// One sentence that says what happened.
    package var text: String

    package init(code: String, text: String) {
        self.code = code
        self.text = text
    }

    /// Creates the document of an error whose description is a sentence.
    init(code: String, _ error: any Error) { self.init(code: code, text: "\(error)") }
}

extension ErrorDocument {
    package init(_ refusal: CommandRefusal) {
        switch refusal {
        case .notInRoom: self.init(code: "not-in-room", text: "The call is in no room")
        case .alreadyInRoom: self.init(code: "already-in-room", text: "The call is already in a room")
        case .ended: self.init(code: "ended", text: "The call has ended")
        case .notHost: self.init(code: "not-host", text: "Only the host of the room may do this")
        case .noJoinRequest: self.init(code: "no-join-request", text: "This guest no longer asks to join")
        case .noParticipant: self.init(code: "no-participant", text: "This participant is not in the room")
        case .noPINRequest: self.init(code: "no-pin-request", text: "No PIN is requested")
        case .noSound: self.init(code: "no-sound", text: "The room has no sound")
        case .noVoiceProcessing:
            self.init(
                code: "no-voice-processing", text: "The call was started without voice processing, or it has failed")
        case .noMonitor:
            self.init(
                code: "no-monitor",
                text: "The microphone is a separate device, so you cannot hear yourself")
        case .codecUnavailable(let codec):
            self.init(code: "codec-unavailable", text: "Cannot use the codec \(codec): not supported on both sides")
        case .deviceUnavailable(let error): self.init(code: "device-unavailable", error)
        case .effect(let error): self.init(error)
        case .noAccompaniment: self.init(code: "no-accompaniment", text: "There is no accompaniment")
        case .alreadyRecording: self.init(code: "already-recording", text: "The call is already being recorded")
        case .notRecording: self.init(code: "not-recording", text: "The call is not being recorded")
        case .folderNotWritable(let path, let code): self.init(CallRecordingError.folder(path: path, code: code))
        case .noReceiver: self.init(code: "no-receiver", text: "No participant can receive messages and files")
        case .emptyMessage: self.init(code: "empty-message", text: "The message is empty")
        case .messageTooLong(let limit):
            self.init(code: "message-too-long", text: "The message is longer than \(limit) bytes")
        case .messagesWaiting:
            self.init(code: "messages-waiting", text: "Earlier messages still wait for a slow participant")
        }
    }

    package init(_ ending: LiveCallEnding) {
        switch ending {
        case .left: self.init(code: "left", text: "you left the room")
        case .duration: self.init(code: "duration", text: "the time of the call is over")
        case .alone: self.init(code: "alone", text: "all other participants left")
        case .lastParticipantLost(let name):
            self.init(code: "last-participant-lost", text: "contact with \(name), the last participant, was lost")
        case .room(let ending): self.init(ending)
        case .session(let error): self.init(code: "session", error)
        case .device(let error): self.init(code: "device", error)
        case .notPrepared: self.init(code: "not-prepared", text: "the audio device could not be prepared")
        case .noSound(let interruption, let seconds):
            self.init(code: "no-sound", text: "no sound for \(Int(max(0, min(1e9, seconds)))) s: \(interruption)")
        case .codec(let error): self.init(code: "codec", error)
        case .noCommonFormat(let local, let remote):
            self.init(
                code: "no-common-format",
                text: "no common format: \(local.joined(separator: ", ")) here, "
                    + "\(remote.joined(separator: ", ")) there")
        }
    }

    /// Creates the document of the reason that a guest does not join, with the host's sentence about the guest.
    init(_ error: RoomError, about guest: String) {
        self.init(code: error.code, text: error.hostDescription(about: guest) ?? "\(guest) no longer asks to join")
    }

    init(_ ending: RoomEnding) {
        let code =
            switch ending {
            case .refused(let error): error.code
            case .unreached: "unreached"
            case .changedKey: "changed-key"
            case .blockedHost: "blocked-host"
            case .noPINWanted: "no-pin-wanted"
            case .impostor: "impostor"
            case .removed(let isBlocked): isBlocked ? "blocked" : "removed"
            case .replaced: "replaced"
            case .closed: "closed"
            case .dropped: "dropped"
            case .lost: "lost"
            case .becameHost: "became-host"
            case .left: "left"
            }
        self.init(code: code, ending)
    }

    package init(_ error: CallRecordingError) {
        switch error {
        case .folder(let path, let code):
            self.init(code: "folder", text: "Cannot record to \(path): \(String(cString: strerror(code)))")
        case .file(let error): self.init(code: "file", text: "Cannot go on recording \(error)")
        case .system(let code):
            self.init(code: "system", text: "Cannot record: \(String(cString: strerror(code)))")
        case .codec(let error): self.init(code: "codec", text: "Cannot record: \(error)")
        case .tooManyParticipants(let limit):
            self.init(
                code: "too-many-participants",
                text: "The recording has \(limit) participants, the most it can have. Later ones are not recorded.")
        }
    }

    init(_ interruption: Interruption) {
        let code =
            switch interruption {
            case .serverGone: "server-gone"
            case .noDevice: "no-device"
            case .deviceTaken: "device-taken"
            case .deviceFailed: "device-failed"
            case .stalled: "stalled"
            case .suspended: "suspended"
            }
        self.init(code: code, text: "\(interruption)")
    }
}
