// SPDX-License-Identifier: Apache-2.0

import EarshotCall
import EarshotMediaTransport
import EarshotPlayout
import EarshotRooms

/// A participant as JSON. Fields after `isHeard` are nil for the local participant, and before there is media.
package struct ParticipantDocument: Codable, Equatable, Sendable {
    /// The number in the room, which commands use.
    package var id: UInt64
    package var name: String
    /// The fingerprint of the key; nil for a browser.
    package var key: String?
    package var isHost: Bool
    package var isMuted: Bool
    package var isAway: Bool
    package var isRecording: Bool
    /// The participant's answer to recordings; nil before it.
    package var allowsRecording: Bool?
    /// The playback gain, a factor from 0 to 8.
    package var volume: Float
    /// False if the local participant does not want to hear this one.
    package var isHeard: Bool
    /// `connecting`, `securing`, `open`, `silent`, `suspended`, `closed` or `failed`.
    package var connection: String?
    /// The reason that there is no media.
    package var error: ErrorDocument?
    package var format: FormatDocument?
    /// The reduced bit rate for a slow link.
    package var rate: RateDocument?
    package var statistics: StatisticsDocument?

    init(_ participant: Participant, _ statistics: CallStatistics? = nil) {
        id = UInt64(participant.id.number)
        name = participant.name.text
        key = participant.key?.hex
        isHost = participant.isHost
        isMuted = participant.isMuted
        isAway = participant.isAway
        isRecording = participant.isRecording
        allowsRecording = participant.allowsRecording
        volume = participant.volume
        isHeard = participant.isHeard
        connection = participant.connection.map(Self.name)
        if case .failed(let failure)? = participant.connection {
            error = ErrorDocument(code: "transport", failure)
        } else {
            error = participant.negotiationFailure.map { ErrorDocument(code: "negotiation", text: $0) }
        }
        format = participant.format.map { FormatDocument($0) }
        rate = participant.reducedRate.map { RateDocument($0) }
        self.statistics = statistics.map { StatisticsDocument($0) }
    }

    private static func name(_ state: TransportState) -> String {
        switch state {
        case .connecting: "connecting"
        case .securing: "securing"
        case .open: "open"
        case .silent: "silent"
        case .suspended: "suspended"
        case .closed: "closed"
        case .failed: "failed"
        }
    }
}

/// The negotiated format of the sound as JSON.
package struct FormatDocument: Codable, Equatable, Sendable {
    package var codec: String
    /// The sample rate on the wire in hertz.
    package var rate: Double
    package var channels: Int
    /// The frames of a packet.
    package var packetFrames: Int
    /// Bits per second; nil for PCM.
    package var bitRate: Int?

    init(_ configuration: CallConfiguration) {
        codec = configuration.codec.rawValue
        rate = configuration.streamRate
        channels = configuration.channelCount
        packetFrames = configuration.framesPerPacket
        bitRate = configuration.codec.traits.hasBitRate ? configuration.bitRate : nil
    }
}

/// The sound that is sent over a slow link, as JSON.
package struct RateDocument: Codable, Equatable, Sendable {
    package var codec: String
    /// Bits per second of the codec.
    package var bitRate: Int
    /// Bits per second that the link carries; nil if unknown.
    package var linkBitRate: Double?
    /// True if even the lowest bit rate is too much for the link.
    package var isTooSlow: Bool

    init(_ rate: RateState) {
        codec = rate.rung.codec.rawValue
        bitRate = rate.rung.bitRate
        linkBitRate = rate.linkBitRate.flatMap { $0.isFinite ? $0 : nil }
        isTooSlow = rate.isTooSlow
    }
}

/// The statistics of a remote participant's sound as JSON. Times are in milliseconds.
package struct StatisticsDocument: Codable, Equatable, Sendable {
    /// The estimated delay from the participant's microphone to the local loudspeaker.
    package var delayMs: Double?
    /// The depth of the jitter buffer, and its target; nil before there is sound.
    package var depthMs: Double?
    package var targetDepthMs: Double?
    package var roundTripMs: Double?
    package var jitterMs: Double?
    /// The estimate of the participant's clock; nil if there is none.
    package var clock: ClockDocument?
    /// The packets that did not arrive, and those that arrived too late.
    package var lost: Int
    package var late: Int
    package var glitches: Int
    /// The peak of the sound; 1 is full scale.
    package var peak: Float
    package var isSpeaking: Bool

    init(_ statistics: CallStatistics) {
        let playout = statistics.playout
        delayMs = CallJSON.milliseconds(statistics.mouthToEar)
        depthMs = playout.isStarted ? CallJSON.milliseconds(max(0, playout.depth)) : nil
        targetDepthMs = playout.isStarted ? CallJSON.milliseconds(playout.targetDepth) : nil
        roundTripMs = CallJSON.milliseconds(statistics.media.rtp.roundTrip)
        jitterMs = CallJSON.milliseconds(statistics.media.rtp.jitter)
        clock = statistics.media.clock.flatMap { ClockDocument($0) }
        lost = max(0, statistics.media.rtp.packetsMissing)
        late = playout.latePackets + statistics.media.lateUnits
        glitches = playout.glitches
        peak = statistics.level.peak.isFinite ? statistics.level.peak : 0
        isSpeaking = statistics.level.isSpeaking
    }
}
