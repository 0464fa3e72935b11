// SPDX-License-Identifier: Apache-2.0

/// The report of a simulated call, determined by the configuration alone. Fields named Ms are in milliseconds, to microseconds.
package struct SimulationReport: Codable, Hashable, Sendable {
    /// The distribution of values, weighted by time, to three digits.
    package struct Spread: Codable, Hashable, Sendable {
        /// The minimum.
        package var least: Double
        /// The median.
        package var p50: Double
        /// The value that is exceeded 5 % of the time.
        package var p95: Double
        /// The value that is exceeded 1 % of the time.
        package var p99: Double
        /// The maximum.
        package var max: Double
    }

    /// One peer.
    package struct Peer: Codable, Hashable, Sendable {
        /// The number, from 1.
        package var number: Int
        /// The card's rate in hertz.
        package var rate: Double
        /// The frames of the card's block.
        package var block: Int
        /// The deviation of its crystal from the nominal rate in parts per million.
        package var driftPPM: Double
        /// The second of the simulation at which frame 0 passed its microphone's converter.
        package var microphoneStartSeconds: Double
        /// The second of the simulation at which frame 0 passed its loudspeaker's converter.
        package var loudspeakerStartSeconds: Double
    }

    /// A point of a stream's series: means over a period.
    package struct Point: Codable, Hashable, Sendable {
        /// The beginning of the period.
        package var seconds: Double
        /// The target wait of the earliest packet.
        package var targetDepthMs: Double
        /// The actual wait of the earliest packet.
        package var depthMs: Double
        /// The delay from microphone to loudspeaker.
        package var mouthToEarMs: Double
    }

    /// The stream from one peer to another.
    package struct Stream: Codable, Hashable, Sendable {
        /// The speaker's number.
        package var from: Int
        /// The listener's number.
        package var to: Int
        /// The negotiated codec: `pcm`, `opus`, `opus-custom` or `aac`; over a slow link Opus may replace `pcm`.
        package var codec: String
        /// The rate on the wire in hertz.
        package var rate: Double
        /// The negotiated frames of a packet.
        package var packetFrames: Int
        /// The kilobits a second sent, with RTP headers, reports and SRTP, without UDP and IP.
        package var kilobitsPerSecond: Double
        /// The kilobits a second without the headers of RTP and SRTP: payloads, with redundancy and its headers.
        package var payloadKilobitsPerSecond: Double
        /// The steps down the ladder of a slow link, in the whole call.
        package var stepsDown: Int
        /// The steps up the ladder.
        package var stepsUp: Int
        /// True if at the end even the last rung exceeded the link's rate.
        package var isLinkTooSlow: Bool
        /// The delay from the microphone's converter to the loudspeaker's; nil if nothing was heard.
        package var mouthToEarMs: Spread?
        /// The delay of received packets in the network.
        package var networkMs: Spread?
        /// The target depth.
        package var targetDepthMs: Spread?
        /// The depth.
        package var depthMs: Spread?
        /// The sender's clock relative to the receiver's at the end, in parts per million, as playout measured it.
        package var driftPPM: Double
        /// The packets of sound.
        package var packetsSent: Int
        /// The packets that the network lost, including those at a full queue.
        package var packetsLost: Int
        /// The packets lost because the link's queue was full.
        package var packetsOverflowed: Int
        /// The packets that arrived too late.
        package var packetsLate: Int
        /// The packets that were missing when needed.
        package var packetsMissing: Int
        /// The packets that a copy, a request or the codec's own redundancy recovered in time.
        package var packetsRecovered: Int
        /// The recovered packets that were requested.
        package var packetsRecoveredByRequest: Int
        /// The recovered packets from the next packet (Opus's in-band FEC).
        package var packetsRecoveredByCodec: Int
        /// The concealed frames.
        package var concealedFrames: Int
        /// The share of concealed frames in all heard ones, 0 to 1.
        package var concealedShare: Double
        /// The frames skipped to shorten the delay or to follow a card that skipped.
        package var droppedFrames: Int
        /// The frames added to lengthen the delay.
        package var insertedFrames: Int
        /// The runs of blocks with concealed, skipped or added frames.
        package var glitches: Int
        /// The glitches a minute.
        package var glitchesPerMinute: Double
        /// At most 240 points of the same length.
        package var series: [Point]
    }

    /// The seed of the configuration.
    package var seed: UInt64
    /// The seconds of the call.
    package var seconds: Double
    /// The second from which on it counted.
    package var measuredFromSeconds: Double
    /// True if packets were protected.
    package var isEncrypted: Bool
    /// The hash of all bytes sent, in hexadecimal: equal runs have equal hashes.
    package var digest: String
    /// The peers, in order.
    package var peers: [Peer]
    /// The streams from each peer to each.
    package var streams: [Stream]
}
