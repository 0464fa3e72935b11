// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession
import EarshotCall
import EarshotMediaTransport
import EarshotNearby
import EarshotPlayout
import EarshotRooms
import EarshotVoiceProcessing

/// The state of a call at one time. Two snapshots of one call with the same ``revision`` are equal.
///
/// Values that change many times a second are in ``LiveCallLevels``.
public struct LiveCallSnapshot: Hashable, Sendable {
    /// The phase of the call.
    public enum Phase: Hashable, Sendable {
        /// There is no room yet.
        case idle
        /// The room is being opened.
        case opening
        /// The host is asked to admit the local participant; nil until the host answers.
        case joining(RoomInfo?)
        /// The local participant is in the room.
        case inRoom
        /// The call has ended.
        case ended(LiveCallEnding)
    }

    /// The state of the sound.
    public enum Sound: Hashable, Sendable {
        /// The room has no sound: messages and files only.
        case none
        /// The device starts when another participant is in the room.
        case waiting
        /// The device runs.
        case running(since: HostTime)
        /// The device was stopped after this many seconds.
        case stopped(after: Double)
    }

    /// A request for the room's PIN.
    public enum PINRequest: Hashable, Sendable {
        /// The guest gave no PIN.
        case missing
        /// The guest entered a wrong PIN.
        case wrong(attemptsLeft: Int)
    }

    /// The revision, which increases with every change.
    public internal(set) var revision: UInt64 = 0
    /// The phase of the call.
    public internal(set) var phase = Phase.idle
    /// The room's name, identity and epoch; nil before the call is in a room. The value stays after the call's end.
    public internal(set) var room: Room?
    /// The local participant; nil before the call is in a room.
    public internal(set) var localParticipant: Participant?
    /// The remote participants in the order of joining.
    public internal(set) var participants: [Participant] = []
    /// The waiting guests, in the order of their requests.
    public internal(set) var joinRequests: [JoinRequest] = []
    /// The guests whom the local participant admits while it is the host.
    public internal(set) var admission: AdmissionPolicy
    /// The PIN request; nil unless ``LiveCallCommand/providePIN(_:)`` is expected.
    public internal(set) var pinRequest: PINRequest?
    /// The join codes of this machine's addresses, the most likely first; empty unless the local participant is the host.
    public internal(set) var joinCodes: [JoinCode] = []
    /// The state of the local participant's announcement of the room; nil without an announcement.
    public internal(set) var discovery: RoomAdvertiser.State?
    /// True while contact with the host is lost.
    public internal(set) var isHostLost = false
    /// True if the local participant is muted.
    public internal(set) var isMuted = false
    /// The state of the sound.
    public internal(set) var sound: Sound
    /// The latency profile, which trades delay against gaps; nil without sound.
    public internal(set) var latencyProfile: LatencyProfile?
    /// The codec that is offered and chosen first; nil for Opus. ``Participant/format`` has the codec in use.
    package internal(set) var preferredCodec: Codec?
    /// The preferred milliseconds of an Opus packet; nil for the remote participant's preference.
    package internal(set) var packetMilliseconds: Double?
    /// The gain of the whole playback, a factor from 0 to 8.
    public internal(set) var outputVolume: Float = 1
    /// The sound device; nil before it started.
    public internal(set) var device: CallDevice?
    /// The reason that the sound is interrupted; nil without an interruption.
    public internal(set) var interruption: Interruption?
    /// The state of the microphone.
    public internal(set) var microphone = MicrophoneCheck.Finding.fine
    /// The state of voice processing; nil if the call has none, or before voice processing was chosen.
    public internal(set) var voiceProcessing: VoiceProcessingState?
    /// The requested mode of voice processing.
    public internal(set) var voiceProcessingMode = VoiceProcessingMode.auto
    /// True if the call can use voice processing.
    public internal(set) var hasVoiceProcessing = false
    /// The choice of the monitor, by which the local participant hears itself; nil before it was chosen for a device.
    public internal(set) var monitor: VoiceProcessingChoice?
    /// The requested mode of the monitor.
    package internal(set) var monitorMode = MonitorMode.auto
    /// The seconds by which the monitor is later than the round trip of the device.
    package internal(set) var monitorDelay = 0.0
    /// True during push to talk, in which the local participant is muted except while talking.
    public internal(set) var isPushToTalk = false
    /// The effects of the local voice; nil for none.
    public internal(set) var effects: CallEffectsDescription?
    /// The local recording; nil while there is none.
    public internal(set) var recording: CallRecordingStatus?
    /// True from the request to record until the recording has begun: it waits for the sound.
    package internal(set) var isRecordingAwaited = false
    /// The accompaniment; nil while there is none.
    public internal(set) var accompaniment: AccompanimentStatus?
    /// True if others may record the local voice; nil before the answer.
    public internal(set) var allowsRecording: Bool?
    /// The number of messages that were not delivered yet, counted for each receiver.
    package internal(set) var unsentMessageCount = 0
    /// The files being transferred, in either direction.
    public internal(set) var transfers: [FileTransfer] = []

    /// A room.
    public struct Room: Hashable, Sendable {
        /// The room's name.
        public var name: PeerName
        /// The room's identity, which stays the same when the host changes.
        public var id: RoomID
        /// The room's epoch, which increases when the host changes.
        public var epoch: Epoch
    }

    /// Returns true if the local participant admits guests.
    public var isHost: Bool { localParticipant?.isHost ?? false }

    /// The reason that the call ended; nil before the end.
    public var ending: LiveCallEnding? {
        if case .ended(let ending) = phase { ending } else { nil }
    }

    /// Returns true if the local participant is in the room.
    public var isInRoom: Bool { phase == .inRoom }

    /// Returns true if another participant records and ``LiveCallCommand/allowRecording(_:)`` is expected.
    public var isRecordingConsentRequested: Bool {
        isInRoom && sound != .none && allowsRecording == nil && participants.contains(where: \.isRecording)
    }

    /// Returns the remote participant with a number; nil if there is none.
    public subscript(id: MemberID) -> Participant? { participants.first { $0.id == id } }
}

/// The state of voice processing of the local microphone.
public enum VoiceProcessingState: Hashable, Sendable {
    /// Voice processing was turned on or off for the present route. The latency is in seconds.
    case chosen(VoiceProcessingChoice, latency: Double)
    /// Voice processing failed. The microphone is sent unprocessed.
    case failed(VoiceProcessingError)
}
