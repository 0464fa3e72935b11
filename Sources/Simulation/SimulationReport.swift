// SPDX-License-Identifier: Apache-2.0

/// The report of a simulated call, determined by the call's configuration and length. Fields named Ms are in milliseconds,
/// rounded to microseconds.
package struct SimulationReport: Codable, Hashable, Sendable {
    /// The distribution of values in milliseconds, one for each block or received packet. The percentiles have three digits.
    package struct Spread: Codable, Hashable, Sendable {
        /// The minimum.
        package var least: Double
        /// The median.
        package var p50: Double
        /// The 95th percentile.
        package var p95: Double
        /// The 99th percentile.
        package var p99: Double
        /// The maximum.
        package var max: Double
    }

    /// One peer.
    package struct Peer: Codable, Hashable, Sendable {
        /// The peer's number, from 1.
        package var number: Int
        /// The card's rate in hertz.
        package var rate: Double
        /// The frames in a block of the card.
        package var block: Int
        /// The deviation of the card's true rate from the nominal rate in parts per million.
        package var driftPPM: Double
        /// The second of the call at which frame 0 passed the microphone's converter; 0 if none did.
        package var microphoneStartSeconds: Double
        /// The second of the call at which frame 0 passed the loudspeaker's converter; 0 if none did.
        package var loudspeakerStartSeconds: Double
    }

    /// A point of a stream's series: means over a period.
    package struct Point: Codable, Hashable, Sendable {
        /// The second of the call at which the period begins.
        package var seconds: Double
        /// The mean target of the jitter buffer's depth.
        package var targetDepthMs: Double
        /// The mean depth of the jitter buffer: how much later than the earliest packet one may arrive and still be played.
        package var depthMs: Double
        /// The mean delay from the microphone's converter to the loudspeaker's.
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
        /// The sample rate of the stream in hertz.
        package var rate: Double
        /// The negotiated frames in a packet.
        package var packetFrames: Int
        /// The kilobits a second sent, with RTP headers, reports and SRTP, without UDP and IP.
        package var kilobitsPerSecond: Double
        /// The kilobits a second without the headers of RTP and SRTP: payloads, with redundancy and its headers.
        package var payloadKilobitsPerSecond: Double
        /// Times that the sender lowered its bit rate for a slow link, in the whole call.
        package var stepsDown: Int
        /// Times that the sender raised its bit rate again, in the whole call.
        package var stepsUp: Int
        /// True if, at the end of the call, even the lowest bit rate exceeded the link's rate.
        package var isLinkTooSlow: Bool
        /// The delay from the microphone's converter to the loudspeaker's; nil if nothing was heard.
        package var mouthToEarMs: Spread?
        /// The delay of received packets in the network.
        package var networkMs: Spread?
        /// The target of the jitter buffer's depth; nil if nothing was heard.
        package var targetDepthMs: Spread?
        /// The depth of the jitter buffer; nil if nothing was heard.
        package var depthMs: Spread?
        /// The sender's clock relative to the receiver's at the end, in parts per million, as playout measured it.
        package var driftPPM: Double
        /// The packets of sound sent.
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
        /// The runs of successive blocks with concealed, skipped or inserted frames.
        package var glitches: Int
        /// The glitches a minute.
        package var glitchesPerMinute: Double
        /// The series over time: at most 240 points for periods of the same length.
        package var series: [Point]
    }

    /// The seed of the configuration.
    package var seed: UInt64
    /// The length of the call in seconds.
    package var seconds: Double
    /// The second of the call at which the measurements began.
    package var measuredFromSeconds: Double
    /// True if packets were protected.
    package var isEncrypted: Bool
    /// The hash of all bytes sent, in hexadecimal: equal runs have equal hashes.
    package var digest: String
    /// The peers, in order.
    package var peers: [Peer]
    /// The streams from each peer to each other peer.
    package var streams: [Stream]
}
