// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import EarshotAudioEngine
import EarshotCall
import EarshotMediaTransport
import EarshotPlayout
import EarshotRooms

/// A command of a user interface: a terminal, a page, or a program with the library.
public enum LiveCallCommand: Hashable, Sendable {
    /// Opens a room and hosts it.
    case host(RoomOpening)
    /// Asks a host to admit the local participant.
    case join(Endpoint, pin: PIN? = nil, purpose: Purpose? = nil)
    /// Answers ``LiveCallSnapshot/pinRequest``.
    case providePIN(PIN)
    /// Admits a waiting guest.
    case admit(JoinRequestID)
    /// Declines a waiting guest, who may ask again.
    case decline(JoinRequestID)
    /// Declines a waiting guest and refuses later requests.
    case blockRequest(JoinRequestID)
    /// Removes a participant, who may ask again.
    case remove(MemberID)
    /// Removes a participant and refuses later requests.
    case block(MemberID)
    /// Sets which guests are admitted while the local participant is the host.
    case setAdmission(AdmissionPolicy)
    /// Mutes the local participant, or unmutes it.
    case setMuted(Bool)
    /// Renames the local participant.
    case rename(PeerName)
    /// Sets the playback gain of a participant, clamped to 0…8. It is remembered by the participant's key for the next call.
    case setVolume(Float, of: MemberID)
    /// Hears a participant, or no longer hears it, without a change of its volume. Nobody else notices. It is remembered like the
    /// volume.
    case setHeard(Bool, of: MemberID)
    /// Sets the gain of the whole playback, clamped to 0…8.
    case setOutputVolume(Float)
    /// Sets the latency profile, which trades delay against gaps. The change takes effect within seconds, without a gap.
    case setLatencyProfile(LatencyProfile)
    /// Prefers a codec, and packets of Opus of 2.5, 5, 10 or 20 milliseconds; nil for the automatic choice. The command
    /// applies to running media and to participants who join later. A participant without the codec uses another one.
    case setCodec(Codec?, frameMilliseconds: Double? = nil)
    /// Moves the sound to other devices, by id, name or a unique part of it; nil for the system's default. While a device cannot
    /// be opened, the sound stays where it is.
    case setDevice(input: String?, output: String?)
    /// Sets the mode of voice processing.
    case setVoiceProcessing(VoiceProcessingMode)
    /// Sets the mode of the monitor, by which the local participant hears its own voice with its effects, muted or not.
    case setMonitor(MonitorMode)
    /// Begins or ends push to talk. It begins muted, and ``setMuted(_:)`` then says when the local participant talks. Its end
    /// restores the mute from before.
    case setPushToTalk(Bool)
    /// Replaces the effects of the local voice without a click; none for an empty list. Each text is
    /// `NAME[:preset][,parameter=value…]`, such as `reverb:large-hall,mix=20`. NAME is that of an effect, or `lv2:` and the URI
    /// of an installed plug-in.
    case setEffects([String])
    /// Changes a parameter of a present effect without a click. The effect is its number from 1 or its name; the value is a
    /// number in the parameter's unit, the name of a choice, or `on` or `off`.
    case setEffectParameter(String, of: String, to: String)
    /// Loads files to play with the call: sound files, playlists (M3U, PLS) and folders. They are paused at the beginning of the
    /// first one. An empty list ends the accompaniment. A file that cannot be played is skipped, with an event.
    case setAccompaniment(files: [String])
    /// Changes the accompaniment.
    case controlAccompaniment(AccompanimentControl)
    /// Records the call to a folder; nil for a new folder in the user's music. A recording begins with the sound. The other
    /// participants see it, and each voice is recorded once its participant allows it.
    case startRecording(folder: String?)
    /// Ends the recording.
    case stopRecording
    /// Allows the other participants to record the local voice, or declines.
    case allowRecording(Bool)
    /// Sends a message of 1 to 65,536 bytes of UTF-8 to all native participants.
    case say(String)
    /// Sends a file to all native participants.
    case sendFile(path: String)
    /// Leaves the room. If the local participant is the host, the longest participant takes over.
    case leave
    /// Leaves the room and ends it for all.
    case endRoom

    /// A command without its arguments.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case host, join, providePIN, admit, decline, blockRequest, remove, block, setAdmission, setMuted, rename,
            setVolume, setHeard, setOutputVolume, setLatencyProfile, setCodec, setDevice, setVoiceProcessing,
            setMonitor, setPushToTalk, setEffects, setEffectParameter, setAccompaniment, controlAccompaniment,
            startRecording, stopRecording, allowRecording, say, sendFile, leave, endRoom
    }

    /// The command without its arguments.
    public var kind: Kind {
        switch self {
        case .host: .host
        case .join: .join
        case .providePIN: .providePIN
        case .admit: .admit
        case .decline: .decline
        case .blockRequest: .blockRequest
        case .remove: .remove
        case .block: .block
        case .setAdmission: .setAdmission
        case .setMuted: .setMuted
        case .rename: .rename
        case .setVolume: .setVolume
        case .setHeard: .setHeard
        case .setOutputVolume: .setOutputVolume
        case .setLatencyProfile: .setLatencyProfile
        case .setCodec: .setCodec
        case .setDevice: .setDevice
        case .setVoiceProcessing: .setVoiceProcessing
        case .setMonitor: .setMonitor
        case .setPushToTalk: .setPushToTalk
        case .setEffects: .setEffects
        case .setEffectParameter: .setEffectParameter
        case .setAccompaniment: .setAccompaniment
        case .controlAccompaniment: .controlAccompaniment
        case .startRecording: .startRecording
        case .stopRecording: .stopRecording
        case .allowRecording: .allowRecording
        case .say: .say
        case .sendFile: .sendFile
        case .leave: .leave
        case .endRoom: .endRoom
        }
    }
}

/// A room to open.
public struct RoomOpening: Hashable, Sendable {
    /// The room's name.
    public var name: PeerName
    /// The PIN that guests must know; nil for none.
    public var pin: PIN?
    /// The maximum native participants, including the local one; clamped to 2…`Roster.maximumNativeCount`.
    public var capacity = Roster.maximumNativeCount
    /// True if the room is announced on the network.
    public var isAnnounced = true

    /// Creates a room without a PIN.
    public init(name: PeerName) { self.name = name }
}

/// The reason that a command was not executed. Nothing changed.
public enum CommandRefusal: Error, Hashable, Sendable {
    /// The call is in no room.
    case notInRoom
    /// The call is in a room, or is joining one.
    case alreadyInRoom
    /// The call has ended.
    case ended
    /// Only the host may execute the command.
    case notHost
    /// No guest waits for a decision, or the guest of the command no longer waits.
    case noJoinRequest
    /// No remote participant is in the room, or the participant of the command has left.
    case noParticipant
    /// No PIN is requested.
    case noPINRequest
    /// The room has no sound.
    case noSound
    /// This machine, or everybody else in the call, cannot use the codec.
    case codecUnavailable(Codec)
    /// No device has the name, or several have it.
    case deviceUnavailable(AudioDeviceError)
    /// The call was made without voice processing, or voice processing has failed.
    case noVoiceProcessing
    /// The local voice cannot be monitored: the microphone and the loudspeaker are separate devices without a common cycle.
    case noMonitor
    /// There is no such effect, parameter or value, or the effect cannot run here.
    case effect(AudioEngineError)
    /// There is no accompaniment.
    case noAccompaniment
    /// The call is being recorded already.
    case alreadyRecording
    /// The call is not being recorded.
    case notRecording
    /// No files can be created in the folder of the recording; `code` is an errno.
    case folderNotWritable(path: String, code: Int32)
    /// No remote participant can receive messages and files.
    case noReceiver
    /// The message is empty.
    case emptyMessage
    /// The message has more than this many bytes.
    case messageTooLong(limit: Int)
    /// Earlier messages wait for a slow participant. Try again.
    case messagesWaiting
}

/// Tells whether a command may be executed now.
public enum Availability: Hashable, Sendable {
    /// The command may be executed.
    case available
    /// The command would be refused for this reason.
    case unavailable(CommandRefusal)
}

extension LiveCallSnapshot {
    /// Returns whether commands of a kind may be executed, and otherwise the reason.
    public func availability(of kind: LiveCallCommand.Kind) -> Availability {
        refusal(of: kind).map { .unavailable($0) } ?? .available
    }

    func refusal(of kind: LiveCallCommand.Kind) -> CommandRefusal? {
        if ending != nil { return .ended }
        switch kind {
        case .host, .join: return phase == .idle ? nil : .alreadyInRoom
        case .leave, .setMuted, .rename, .setAdmission, .allowRecording: return nil
        case .providePIN: return pinRequest == nil ? .noPINRequest : nil
        case .setMonitor where device?.hasSeparateInput == true: return .noMonitor
        case .setOutputVolume, .setLatencyProfile, .setMonitor, .setPushToTalk, .setCodec, .setDevice,
            .setEffects, .setEffectParameter, .setAccompaniment:
            return sound == .none ? .noSound : nil
        case .controlAccompaniment:
            guard sound != .none else { return .noSound }
            return accompaniment == nil ? .noAccompaniment : nil
        case .setVoiceProcessing:
            guard sound != .none else { return .noSound }
            if case .failed? = voiceProcessing { return .noVoiceProcessing }
            return hasVoiceProcessing ? nil : .noVoiceProcessing
        default: break
        }
        guard isInRoom else { return .notInRoom }
        switch kind {
        case .admit, .decline, .blockRequest:
            guard isHost else { return .notHost }
            return joinRequests.isEmpty ? .noJoinRequest : nil
        case .remove, .block:
            guard isHost else { return .notHost }
            return participants.isEmpty ? .noParticipant : nil
        case .startRecording:
            guard sound != .none else { return .noSound }
            return recording == nil && !isRecordingAwaited ? nil : .alreadyRecording
        case .stopRecording: return recording == nil && !isRecordingAwaited ? .notRecording : nil
        case .endRoom: return isHost ? nil : .notHost
        case .setVolume, .setHeard:
            guard sound != .none else { return .noSound }
            return participants.isEmpty ? .noParticipant : nil
        case .say, .sendFile: return participants.contains(where: \.isNative) ? nil : .noReceiver
        case .host, .join, .leave, .setMuted, .rename, .setAdmission, .providePIN, .setOutputVolume, .setLatencyProfile,
            .setCodec, .setDevice, .setVoiceProcessing, .setMonitor, .setPushToTalk, .setEffects, .setEffectParameter,
            .setAccompaniment, .controlAccompaniment, .allowRecording:
            return nil
        }
    }
}
