// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation

/// An event of a call as JSON. A field that the event does not have is nil. docs/call-events.md lists the fields of each event.
package struct EventDocument: Codable, Equatable, Sendable {
    /// The number, ascending from 1 without a gap.
    package var number: UInt64
    /// The date in ISO 8601, UTC.
    package var time: String
    /// The time in nanoseconds of this machine's `CLOCK_MONOTONIC`.
    package var monotonicNanoseconds: Int64
    /// The name: a raw value of ``Name``, or another one from a later version.
    package var event: String

    package var participant: ParticipantDocument?
    package var participants: [ParticipantDocument]?
    package var name: String?
    package var previousName: String?
    package var isLost: Bool?
    package var isMuted: Bool?
    package var room: RoomDocument?
    package var attemptsLeft: Int?
    /// The command that sets the new value of a setting.
    package var setting: CommandDocument?
    package var request: JoinRequestDocument?
    package var discovery: DiscoveryDocument?
    package var device: DeviceDocument?
    package var deviceEvent: DeviceEventDocument?
    package var effects: EffectsDocument?
    package var microphone: String?
    package var hertz: Int?
    package var voiceProcessing: VoiceProcessingDocument?
    package var monitor: MonitorDocument?
    package var format: FormatDocument?
    package var rate: RateDocument?
    package var port: Int?
    package var recording: RecordingDocument?
    package var accompaniment: AccompanimentDocument?
    package var duet: DuetDocument?
    package var message: MessageDocument?
    package var transfer: TransferDocument?
    package var stream: String?
    package var count: Int?
    package var error: ErrorDocument?

    /// - Parameters:
    ///   - now: the present time.
    ///   - date: the date at `now`.
    package init(_ event: LiveCallEvent, now: HostTime = .now(), date: Date = Date()) {
        number = event.number
        time = date.addingTimeInterval(event.time.seconds(since: now))
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        monotonicNanoseconds = event.time.nanoseconds
        self.event = Name(event.kind).rawValue
        describe(event.kind)
    }

    /// The names of the events, which are those of `LiveCallEvent.Kind`.
    package enum Name: String, CaseIterable, Sendable {
        case roomFound, hostSlow, pinRequested, askedAgain, roomOpened, roomJoined
        case participantJoined, participantLeft, participantRenamed, participantMuted, participantAway, hostChanged,
            becameHost, hostLost, hostFound, roomSplit, descriptionForged, discovery, storeFailed
        case settingChanged
        case joinRequested, joinRequestWithdrawn, guestRefused
        case soundStarted, device, microphone, feedback, voiceProcessing, monitor, effects, muted
        case callBegan, formatChanged, transportFailed, mediaMissing, negotiationFailed, linkRate
        case recordingStarted, recordingEnded, recordingFailed, participantRecording, recordingConsentRequested,
            recordingConsent
        case accompaniment, accompanimentFailed
        case duet
        case messageReceived, messagesLost, streamRefused, transfer
        case ended
    }
}
