// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// A participant of a call that is being recorded, at one time.
package struct RecordedParticipant: Hashable, Sendable {
    /// The participant's number, which is its media's too.
    package var peer: PeerID
    /// The verified key; nil for a browser.
    package var key: KeyFingerprint?
    package var name: String
    /// The participant's answer to recordings; nil before it.
    package var allowsRecording: Bool?
    /// True while the transport to the participant carries media.
    package var isPresent: Bool
    /// The playback gain, a factor.
    package var volume: Float
    /// The target depth of the live jitter buffer in seconds; nil before live playback has begun.
    package var liveDepth: Double?

    package init(
        peer: PeerID, key: KeyFingerprint?, name: String, allowsRecording: Bool?, isPresent: Bool, volume: Float = 1,
        liveDepth: Double? = nil
    ) {
        self.peer = peer
        self.key = key
        self.name = name
        self.allowsRecording = allowsRecording
        self.isPresent = isPresent
        self.volume = volume
        self.liveDepth = liveDepth
    }
}

/// The local participant and device of a call that is being recorded, at one time.
package struct RecordingParty: Hashable, Sendable {
    /// The name of the local participant.
    package var name: String
    package var key: KeyFingerprint?
    /// The seconds from the microphone to the callback and from there to the loudspeaker.
    package var deviceLatency = 0.0
    /// The seconds by which voice processing delays the dry voice.
    package var processingLatency = 0.0
    /// True if the microphone has its own clock.
    package var hasSeparateMicrophone = false
    package var participants: [RecordedParticipant] = []

    package init(name: String, key: KeyFingerprint? = nil) {
        self.name = name
        self.key = key
    }
}
