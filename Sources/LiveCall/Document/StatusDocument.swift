// SPDX-License-Identifier: Apache-2.0

/// The state of a call as JSON: a snapshot and the levels of the same time. docs/call-events.md describes it.
package struct StatusDocument: Codable, Equatable, Sendable {
    /// The state of the sound.
    package struct Sound: Codable, Equatable, Sendable {
        /// `none`, `waiting`, `running` or `stopped`.
        package var state: String
        /// The seconds of sound so far; nil before the sound began.
        package var seconds: Double?
    }

    /// The version of the protocol: ``CallSocket/version``.
    package var `protocol`: Int
    /// The version of the program that has the call.
    package var earshot: String
    package var pid: Int32
    /// The revision of the snapshot, which increases with every change.
    package var revision: UInt64
    /// The number of the last event; 0 before the first.
    package var lastEvent: UInt64

    /// `idle`, `opening`, `joining`, `inRoom` or `ended`.
    package var phase: String
    /// The reason of the end.
    package var ending: ErrorDocument?
    /// The room, or the room that is being joined.
    package var room: RoomDocument?
    package var localParticipant: ParticipantDocument?
    /// The remote participants in the order of joining.
    package var participants: [ParticipantDocument]
    /// The waiting guests in the order of their requests.
    package var joinRequests: [JoinRequestDocument]
    /// `all`, `known` or `ask`.
    package var admission: String
    /// True if a PIN is requested from the local participant.
    package var isPINRequested: Bool
    package var joinCodes: [String]
    package var discovery: DiscoveryDocument?
    package var isHostLost: Bool

    package var isMuted: Bool
    package var sound: Sound
    /// The name of the latency profile, or a number from 0 to 1; nil without sound.
    package var dial: String?
    /// The preferred codec; nil for the automatic choice.
    package var preferredCodec: String?
    /// The preferred milliseconds of an Opus packet; nil for the automatic choice.
    package var frameMs: Double?
    /// The gain of the whole playback, a factor from 0 to 8.
    package var outputVolume: Float
    package var device: DeviceDocument?
    /// The reason that the sound is interrupted.
    package var interruption: ErrorDocument?
    /// `fine`, `digitalSilence`, `silent` or `clipping`.
    package var microphone: String
    /// The peak of the microphone; 1 is full scale.
    package var peak: Float
    package var isSpeaking: Bool
    /// Voice processing; nil if the call cannot use it.
    package var voiceProcessing: VoiceProcessingDocument?
    /// The monitor, by which the local participant hears itself; nil without sound.
    package var monitor: MonitorDocument?
    /// True during push to talk; nil without sound.
    package var isPushToTalk: Bool?
    /// The effects of the local voice; nil without any.
    package var effects: EffectsDocument?

    /// The accompaniment; nil without one.
    package var accompaniment: AccompanimentDocument?

    /// The duet; nil without one.
    package var duet: DuetDocument?

    /// The local recording; nil without one.
    package var recording: RecordingDocument?
    /// True if a recording was requested that waits for the sound.
    package var isRecordingAwaited: Bool
    /// True if others may record the local voice; nil before the answer.
    package var allowsRecording: Bool?
    /// True if another participant records, and the local participant has not answered.
    package var isRecordingConsentRequested: Bool

    /// The messages that were not delivered yet, counted for each receiver.
    package var unsentMessageCount: Int
    package var transfers: [TransferDocument]
}
