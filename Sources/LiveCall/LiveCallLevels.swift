// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms

/// The values of a call that change many times a second.
public struct LiveCallLevels: Sendable {
    /// The levels of the microphone and the playback.
    public internal(set) var own = CallLevels()
    /// The statistics of the remote participants with media.
    public internal(set) var participants: [MemberID: CallStatistics] = [:]
}

/// The last known state of the call with a participant, also after the participant left.
package struct ParticipantRecord: Sendable {
    /// The participant.
    package internal(set) var participant: Participant
    /// The call's statistics.
    package internal(set) var statistics: CallStatistics
    /// The transport's report; nil if there never was a transport.
    package internal(set) var transport: MediaPortReport?
    /// The pair of addresses that the transport used last; nil if it never had one.
    package internal(set) var pair: ICEPair?
    /// The seconds since the participant's sound began, up to the last observation.
    package internal(set) var heardSeconds = 0.0
    /// The seconds from the start of the sound until the participant left; nil while present.
    package internal(set) var leftAfter: Double?
    var heardSince: HostTime?
}
