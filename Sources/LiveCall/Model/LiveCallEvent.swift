// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioFiles
import EarshotAudioSession
import EarshotCall
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms

/// An event of a call.
///
/// Names and messages of remote participants are unchanged: a terminal must remove control characters.
public struct LiveCallEvent: Sendable {
    /// The number, ascending from 1 without a gap.
    public let number: UInt64
    /// The time of the event.
    public let time: HostTime
    /// The kind of the event.
    public let kind: Kind

    /// The kinds of events.
    public enum Kind: Sendable {
        // MARK: Joining

        /// The room was found. Its host is asked to admit the local participant.
        case roomFound(RoomInfo)
        /// The host has not decided for two seconds.
        case hostSlow
        /// A PIN is requested.
        case pinRequested(LiveCallSnapshot.PINRequest)
        /// The new host does not know the local participant and is asked to admit it.
        case askedAgain(Participant)
        /// The local participant opened the room.
        case roomOpened
        /// The host admitted the local participant.
        case roomJoined

        // MARK: Room

        /// A participant joined.
        case participantJoined(Participant)
        /// A participant left, or did not return within a minute.
        case participantLeft(Participant, isLost: Bool)
        /// A participant has a new name.
        case participantRenamed(Participant, from: PeerName)
        /// A participant muted or unmuted itself.
        case participantMuted(Participant)
        /// The host lost contact with a participant, or found it again.
        case participantAway(Participant)
        /// Another participant is the host now.
        case hostChanged(Participant)
        /// The local participant is the host now.
        case becameHost
        /// Contact with the host has been lost for 0.7 s.
        case hostLost
        /// The lost host answers again.
        case hostFound
        /// Another part of this room has its own host.
        case roomSplit(RoomInfo)
        /// A description that the host passed on from this participant has no valid signature. It was not used.
        case descriptionForged(Participant)
        /// The announcement's state changed.
        case discovery(RoomAdvertiser.State)
        /// A file of the store could not be written.
        case storeFailed(NearbyStoreError)

        // MARK: Settings

        /// An interface has set a new value. The command gives the setting and the value. The setting concerns the participant,
        /// or the call if the participant is nil. A recording that waits for the sound, and its cancellation, are settings, too.
        /// `muted` and `participantRenamed` are separate events.
        case settingChanged(LiveCallCommand, Participant?)

        // MARK: Join requests

        /// A guest asks to join, or changed its request.
        case joinRequested(JoinRequest)
        /// A guest no longer asks to join, for the reason that the error gives, or was declined or blocked.
        case joinRequestWithdrawn(JoinRequest, RoomError)
        /// A guest was refused; the host's user was not asked.
        case guestRefused(name: String, RoomError)

        // MARK: Sound

        /// The device is running.
        case soundStarted(CallDevice, CallEffectsDescription?)
        /// The device's route changed, or its sound was interrupted, paused or resumed.
        case device(AudioSessionEvent, CallDevice)
        /// The microphone's state changed.
        case microphone(MicrophoneCheck.Finding)
        /// Acoustic feedback of this frequency in hertz was damped in the local voice: a loudspeaker near a microphone is too loud.
        case feedback(hertz: Double)
        /// Voice processing was turned on or off, or failed.
        case voiceProcessing(VoiceProcessingState)
        /// The monitor was turned on or off, or its mode was changed.
        case monitor(VoiceProcessingChoice)
        /// The effects of the local voice, or values of their parameters, changed; nil for none.
        case effects(CallEffectsDescription?)
        /// The local participant was muted or unmuted.
        case muted(Bool)
        /// Media with a participant began.
        case callBegan(Participant, CallConfiguration)
        /// The codec or the packet length of the media with a participant has changed.
        case formatChanged(Participant, CallConfiguration)
        /// The transport to a participant failed.
        case transportFailed(Participant, TransportError)
        /// Signalling works, but a participant's media transport did not open within two seconds. The port is the participant's.
        case mediaMissing(Participant, port: UInt16)
        /// Media with a participant could not be negotiated. If the error is ``CommandRefusal/codecUnavailable(_:)``, the
        /// participant cannot use the preferred codec and uses another one.
        case negotiationFailed(Participant, any Error)
        /// The link to a participant carries less than was negotiated. The state is nil if the link carries everything again.
        case linkRate(Participant, RateState?)

        // MARK: Recording

        /// The call is being recorded to this folder.
        case recordingStarted(folder: String)
        /// The recording has ended, and its files are complete.
        case recordingEnded(CallRecordingResult)
        /// The recording could not begin, or one of its files ended early.
        case recordingFailed(CallRecordingError)
        /// A participant began or ended a recording.
        case participantRecording(Participant)
        /// These participants want to record the local voice. ``LiveCallCommand/allowRecording(_:)`` answers.
        case recordingConsentRequested([Participant])
        /// A participant answered whether others may record its voice.
        case recordingConsent(Participant)

        // MARK: Accompaniment

        /// The accompaniment changed: its file, playing or paused, its gain, for whom; or it was sought. nil if it has ended.
        case accompaniment(AccompanimentStatus?)
        /// A file or a playlist of the accompaniment cannot be played, or not to its end. The next file follows.
        case accompanimentFailed(AudioFileError)

        // MARK: Duet

        /// The duet changed: its song, its singers, what is played, or its mix; or the song was moved. nil if it has ended.
        case duet(LiveDuetStatus?)

        // MARK: Messages and files

        /// A participant sent a message.
        case messageReceived(ChatMessage)
        /// Messages did not reach a participant.
        case messagesLost(to: PeerName, count: Int, reason: String)
        /// A participant opened a byte stream, which was refused.
        case streamRefused(from: PeerName?, stream: String)
        /// A file's transfer began, ended or failed.
        case transfer(FileTransfer)

        /// The call has ended, and its room is closed. This is the last event.
        case ended(LiveCallEnding)
    }
}

/// A message from a participant.
public struct ChatMessage: Hashable, Sendable {
    /// The sender's number in the room.
    public var sender: MemberID
    /// The sender's name; nil if the sender left before its name was known.
    public var senderName: PeerName?
    /// The text; nil if the bytes are not UTF-8.
    public var text: String?
    /// The size of the message in bytes.
    public var byteCount: Int
}

/// A file being transferred.
public struct FileTransfer: Hashable, Sendable, Identifiable {
    /// The direction and state of a transfer.
    public enum State: Hashable, Sendable {
        /// A participant offered the file, but this call accepts no files.
        case declined
        /// The file is being received.
        case receiving
        /// The file was received at this path.
        case received(path: String)
        /// The file is being sent.
        case sending
        /// All receivers have the file.
        case sent
        /// The transfer failed.
        case failed(TransferError)
        /// These participants did not get the file.
        case undelivered([Undelivered])
    }

    /// A participant who did not get a file.
    public struct Undelivered: Hashable, Sendable {
        /// The participant's name.
        public var name: PeerName
        /// The reason that the participant did not get the file.
        public var reason: TransferError
    }

    /// The transfer's number, ascending from 1 in a call.
    public let id: UInt64
    /// The file's name.
    public var name: String
    /// The file's size in bytes; 0 while unknown.
    public var byteCount: Int64
    /// The sender of an incoming file; nil for an outgoing file, or if the sender's name is unknown.
    public var sender: PeerName?
    /// The direction and state of the transfer.
    public var state: State

    /// Returns true if the transfer has ended.
    public var isOver: Bool {
        switch state {
        case .receiving, .sending: false
        case .declined, .received, .sent, .failed, .undelivered: true
        }
    }
}
