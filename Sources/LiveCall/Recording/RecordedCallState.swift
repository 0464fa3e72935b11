// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The state of a call that is being recorded, at one time.
struct RecordedCallState: Hashable, Sendable {
    /// The name of the local participant.
    var name: String
    /// The key of the local participant.
    var key: KeyFingerprint?
    /// The seconds from the microphone to the callback and from there to the loudspeaker.
    var deviceLatency = 0.0
    /// The measured delay of the device, whose correction is a part of ``deviceLatency``; nil if the device's report is all.
    var calibratedDelay: CalibratedDelay?
    /// The seconds by which voice processing delays the dry voice.
    var processingLatency = 0.0
    /// True if the microphone has its own clock.
    var hasSeparateMicrophone = false
    /// The remote participants.
    var participants: [RecordedParticipant] = []

    /// Returns true if both states record the same: the same participants with the same names, volumes and answers.
    func recordsSame(as other: RecordedCallState) -> Bool {
        func simplified(_ state: RecordedCallState) -> RecordedCallState {
            var state = state
            (state.deviceLatency, state.processingLatency) = (0, 0)
            for index in state.participants.indices { state.participants[index].liveDepth = nil }
            return state
        }
        return simplified(self) == simplified(other)
    }
}

/// A remote participant of a call that is being recorded.
struct RecordedParticipant: Hashable, Sendable {
    /// The participant's number, which is that of its media.
    var peer: PeerID
    /// The verified key; nil for a browser.
    var key: KeyFingerprint?
    var name: String
    /// True if the participant allows recording; nil if it has not answered.
    var allowsRecording: Bool?
    /// True while the transport to the participant carries media.
    var isPresent: Bool
    /// The playback gain, a factor; 0 if the local participant does not hear this one.
    var volume: Float = 1
    /// The target depth of the live jitter buffer in seconds; nil before live playback has begun.
    var liveDepth: Double?

    /// The reason that the voice must be silence; nil if it is recorded.
    var silenceReason: RecordingManifest.Gap.Reason? {
        switch allowsRecording {
        case nil: .undecided
        case false?: .declined
        case true?: isPresent ? nil : .away
        }
    }
}
