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

/// The state of a call at one moment. Two snapshots of one call with the same ``revision`` are equal.
///
/// Values that change many times a second are in ``LiveCallLevels``.
public struct LiveCallSnapshot: Hashable, Sendable {
    /// The stage of the call.
    public enum Phase: Hashable, Sendable {
        /// There is no room yet.
        case idle
        /// The room is being opened.
        case opening
        /// The host is asked to admit this participant; nil until the host answers.
        case joining(RoomInfo?)
        /// The local participant is in the room.
        case inRoom
        /// The call is over.
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
        /// The device was stopped after that many seconds.
        case stopped(after: Double)
    }

    /// The PIN that the room asks for.
    public enum PINRequest: Hashable, Sendable {
        /// The guest gave no PIN.
        case missing
        /// The guest gave a wrong PIN.
        case wrong(attemptsLeft: Int)
    }

    /// Increases with every change.
    public internal(set) var revision: UInt64 = 0
    /// The stage of the call.
    public internal(set) var phase = Phase.idle
    /// The room's name, identity and epoch; nil before the call is in a room. It remains after the end.
    public internal(set) var room: Room?
    /// The local participant; nil before the call is in a room.
    public internal(set) var localParticipant: Participant?
    /// The remote participants in the order of joining.
    public internal(set) var participants: [Participant] = []
    /// The guests who wait for a decision, in the order of asking.
    public internal(set) var joinRequests: [JoinRequest] = []
    /// The guests whom the local participant admits while it is the host.
    public internal(set) var admission: AdmissionPolicy
    /// Non-nil while ``LiveCallCommand/providePIN(_:)`` is awaited.
    public internal(set) var pinRequest: PINRequest?
    /// The join codes of this machine's addresses, the likeliest first; empty while the local participant is not the host.
    public internal(set) var joinCodes: [JoinCode] = []
    /// The state of the announcement; nil while there is none.
    public internal(set) var discovery: RoomAdvertiser.State?
    /// True while contact with the host is lost.
    public internal(set) var isHostLost = false
    /// True if the local participant sends silence on purpose.
    public internal(set) var isMuted = false
    /// The state of the sound.
    public internal(set) var sound: Sound
    /// The trade of delay against gaps in what is heard; nil without sound.
    public internal(set) var dial: PlayoutDial?
    /// The gain of the whole playback, a factor of 0 or more.
    public internal(set) var outputVolume: Float = 1
    /// The sound device; nil before it started.
    public internal(set) var device: CallDevice?
    /// The reason why the device does not run at present.
    public internal(set) var interruption: Interruption?
    /// A problem of the microphone.
    public internal(set) var microphone = MicrophoneCheck.Finding.fine
    /// Voice processing; nil if the call has none.
    public internal(set) var voiceProcessing: VoiceProcessingState?
    /// When voice processing is on.
    public internal(set) var voiceProcessingMode = VoiceProcessingMode.auto
    /// True if the call was made with voice processing, on or off.
    public internal(set) var hasVoiceProcessing = false
    /// Messages that were not delivered yet.
    package internal(set) var unsentMessageCount = 0
    /// Files that are on their way, in either direction.
    public internal(set) var transfers: [FileTransfer] = []

    /// A room.
    public struct Room: Hashable, Sendable {
        /// The room's name.
        public var name: PeerName
        /// The identity, which stays when the host changes.
        public var id: RoomID
        /// Increases when the host changes.
        public var epoch: Epoch
    }

    /// Returns true if the local participant admits guests.
    public var isHost: Bool { localParticipant?.isHost ?? false }

    /// The reason why the call is over; nil while it is not.
    public var ending: LiveCallEnding? {
        if case .ended(let ending) = phase { ending } else { nil }
    }

    /// Returns true if the local participant is in the room.
    public var isInRoom: Bool { phase == .inRoom }

    /// The remote participant of that number.
    public subscript(id: MemberID) -> Participant? { participants.first { $0.id == id } }
}

/// Voice processing of the local microphone, and the reason for it.
public enum VoiceProcessingState: Hashable, Sendable {
    /// The route was judged.
    case chosen(VoiceProcessingChoice, latency: Double)
    /// Voice processing failed. The microphone is sent unprocessed.
    case failed(VoiceProcessingError)
}
