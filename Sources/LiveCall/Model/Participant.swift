// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotMediaTransport
import EarshotRooms

/// A person in the room, as the local participant sees them.
public struct Participant: Hashable, Sendable, Identifiable {
    /// The number in the room, which is never reused.
    public let id: MemberID
    /// The name, unique in the room.
    public var name: PeerName
    /// The verified key; nil for a browser.
    public var key: KeyFingerprint?
    /// True if this participant is the host, who admits guests.
    public var isHost = false
    /// True if this participant is muted.
    public var isMuted = false
    /// True if the host lost contact with this participant, who has a minute to return.
    public var isAway = false
    /// True if this participant records the call.
    public var isRecording = false
    /// True if others may record this participant's voice; nil before its answer.
    public var allowsRecording: Bool?
    /// The state of the media transport; nil until there is one.
    public var connection: TransportState?
    /// The negotiated format; nil until media is negotiated.
    public var format: CallConfiguration?
    /// The reason that the last negotiation of media failed; nil after a successful one.
    public var negotiationFailure: String?
    /// The reduced bit rate for a slow link to this participant; nil while the link carries the negotiated format.
    public var reducedRate: RateState?
    /// The playback volume of this participant, a factor from 0 to 8. It is remembered by the key for the next call.
    public var volume: Float = 1
    /// False if the local participant chose not to hear this participant, whatever the volume.
    public var isHeard = true

    init(_ member: Member, isHost: Bool) {
        id = member.id
        name = member.name
        key = member.key
        isMuted = member.isMuted
        isAway = member.isAway
        isRecording = member.isRecording
        allowsRecording = member.allowsRecording
        self.isHost = isHost
    }

    /// The playback gain: the volume, or 0 if the local participant does not hear this participant.
    package var gain: Float { isHeard ? volume : 0 }

    /// Returns true if this participant runs Earshot rather than a browser.
    public var isNative: Bool { key != nil }

    /// True if the transport to this participant carries media.
    public var isConnected: Bool { connection?.carriesMedia ?? false }
}

/// A guest who waits for the host's decision.
public struct JoinRequest: Hashable, Sendable, Identifiable {
    /// The request's number, for commands that answer the request.
    public let id: JoinRequestID
    /// The guest.
    public var guest: AskingGuest
}
