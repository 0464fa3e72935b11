import EarshotAudioBase
import EarshotCall
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms

/// The values of a call that change many times a second.
public struct LiveCallLevels: Sendable {
    /// The microphone and the playback.
    public internal(set) var own = CallLevels()
    /// Statistics of the remote participants with media.
    public internal(set) var participants: [MemberID: CallStatistics] = [:]
}

/// The last that is known of a call with a participant. It remains when the participant left.
public struct ParticipantRecord: Sendable {
    /// The participant.
    public internal(set) var participant: Participant
    /// The call's statistics.
    public internal(set) var statistics: CallStatistics
    /// The transport's report; nil if there never was a transport.
    public internal(set) var transport: MediaPortReport?
    /// The pair of addresses that was used last.
    public internal(set) var pair: ICEPair?
    /// Seconds in which sound came from the participant.
    public internal(set) var heardSeconds = 0.0
    /// Seconds from the start of the sound until the participant left; nil while present.
    public internal(set) var leftAfter: Double?
    var heardSince: HostTime?
}
