// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// A participant of a call that is being recorded, at one time.
struct RecordedParticipant: Hashable, Sendable {
    /// The participant's number, which is its media's too.
    var peer: PeerID
    /// The verified key; nil for a browser.
    var key: KeyFingerprint?
    var name: String
    /// The participant's answer to recordings; nil before it.
    var allowsRecording: Bool?
    /// True while the transport to the participant carries media.
    var isPresent: Bool
    /// The playback gain, a factor.
    var volume: Float = 1
    /// The target depth of the live jitter buffer in seconds; nil before live playback has begun.
    var liveDepth: Double?
}

/// The local participant and device of a call that is being recorded, at one time.
struct RecordingParty: Hashable, Sendable {
    /// The name of the local participant.
    var name: String
    var key: KeyFingerprint?
    /// The seconds from the microphone to the callback and from there to the loudspeaker.
    var deviceLatency = 0.0
    /// The seconds by which voice processing delays the dry voice.
    var processingLatency = 0.0
    /// True if the microphone has its own clock.
    var hasSeparateMicrophone = false
    var participants: [RecordedParticipant] = []
}
