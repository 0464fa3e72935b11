// SPDX-License-Identifier: Apache-2.0

/// The report of a simulated call. All of it comes of the configuration alone. What is named Ms is in milliseconds, to
/// microseconds.
package struct SimulationReport: Codable, Hashable, Sendable {
    /// The distribution of values, by the time that they held; to three digits.
    package struct Spread: Codable, Hashable, Sendable {
        /// The least.
        package var least: Double
        /// The median.
        package var p50: Double
        /// The value that is exceeded 5 % of the time.
        package var p95: Double
        /// The value that is exceeded 1 % of the time.
        package var p99: Double
        /// The greatest.
        package var max: Double
    }

    /// One of the peers.
    package struct Peer: Codable, Hashable, Sendable {
        /// From 1.
        package var number: Int
        /// Hertz, of its card.
        package var rate: Double
        /// Frames that its card hands over at a time.
        package var block: Int
        /// The speed of its crystal, in parts per million.
        package var driftPPM: Double
        /// Second of the simulation at which frame 0 passed its microphone's converter.
        package var microphoneStartSeconds: Double
        /// Second of the simulation at which frame 0 passed its loudspeaker's converter.
        package var loudspeakerStartSeconds: Double
    }

    /// A moment of a stream: the means over a piece of time.
    package struct Point: Codable, Hashable, Sendable {
        /// When the piece begins.
        package var seconds: Double
        /// By how long the promptest packet should wait.
        package var targetDepthMs: Double
        /// By how long it did.
        package var depthMs: Double
        /// From microphone to loudspeaker.
        package var mouthToEarMs: Double
    }

    /// The stream of one peer to another.
    package struct Stream: Codable, Hashable, Sendable {
        /// The speaker, by number.
        package var from: Int
        /// The listener.
        package var to: Int
        /// `pcm`, `opus`, `opus-custom` or `aac`, as was agreed on; over a slow link Opus may take the place of `pcm`.
        package var codec: String
        /// Hertz on the wire.
        package var rate: Double
        /// Frames of a packet, as was agreed on.
        package var packetFrames: Int
        /// Kilobits a second that were sent, RTP's headers, its reports and SRTP included, UDP's and IP's not.
        package var kilobitsPerSecond: Double
        /// The same without RTP's and SRTP's headers: what the codec made, what is repeated of it, and their formats' headers.
        package var payloadKilobitsPerSecond: Double
        /// Steps down the ladder because the link was too slow, in the whole call.
        package var stepsDown: Int
        /// Steps up the ladder.
        package var stepsUp: Int
        /// True if at the end even the least that could be sent was too much for the link.
        package var isLinkTooSlow: Bool
        /// From the microphone's converter to the loudspeaker's; nil if nothing was heard.
        package var mouthToEarMs: Spread?
        /// On the way, of the packets that came.
        package var networkMs: Spread?
        /// The target depth.
        package var targetDepthMs: Spread?
        /// The depth.
        package var depthMs: Spread?
        /// The sender's clock against the receiver's at the end, in parts per million, as playout has it.
        package var driftPPM: Double
        /// Packets of sound.
        package var packetsSent: Int
        /// Packets of these that the network lost, those at a full queue among them.
        package var packetsLost: Int
        /// Lost packets of these that found the queue of the link full.
        package var packetsOverflowed: Int
        /// Packets that came when their time had passed.
        package var packetsLate: Int
        /// Packets whose time came before they did.
        package var packetsMissing: Int
        /// Packets that a copy, a request or the codec's own redundancy brought in time and before they came themselves, if ever.
        package var packetsRecovered: Int
        /// Packets of these that were requested.
        package var packetsRecoveredByRequest: Int
        /// Packets of these that the next packet carried (Opus's in-band FEC).
        package var packetsRecoveredByCodec: Int
        /// Frames that were made up.
        package var concealedFrames: Int
        /// Their share of all that were heard, 0 to 1.
        package var concealedShare: Double
        /// Frames left out to shorten the delay or to follow a card that skipped.
        package var droppedFrames: Int
        /// Frames added to lengthen the delay.
        package var insertedFrames: Int
        /// Runs of blocks in which frames were made up, left out or added.
        package var glitches: Int
        /// The same a minute.
        package var glitchesPerMinute: Double
        /// At most 240, alike in length.
        package var series: [Point]
    }

    /// The seed of the configuration.
    package var seed: UInt64
    /// Seconds of the call.
    package var seconds: Double
    /// Second from which on it was counted.
    package var measuredFromSeconds: Double
    /// True if packets were protected.
    package var isEncrypted: Bool
    /// All bytes that were sent, in hexadecimal: what is the same has gone the same way.
    package var digest: String
    /// In order.
    package var peers: [Peer]
    /// From each to each.
    package var streams: [Stream]
}
