/// How a simulated call went. All of it comes of the configuration alone. What is named Ms is in milliseconds, to
/// microseconds.
public struct SimulationReport: Codable, Hashable, Sendable {
    /// How values lie, by the time that they held; to three digits.
    public struct Spread: Codable, Hashable, Sendable {
        /// The least.
        public var least: Double
        /// The median.
        public var p50: Double
        /// What is exceeded 5 % of the time.
        public var p95: Double
        /// What is exceeded 1 % of the time.
        public var p99: Double
        /// The greatest.
        public var max: Double
    }

    /// One of the peers.
    public struct Peer: Codable, Hashable, Sendable {
        /// From 1.
        public var number: Int
        /// Hertz, of its card.
        public var rate: Double
        /// Frames that its card hands over at a time.
        public var block: Int
        /// How fast its crystal runs, in parts per million.
        public var driftPPM: Double
        /// Second of the simulation at which frame 0 passed its microphone's converter.
        public var microphoneStartSeconds: Double
        /// Second of the simulation at which frame 0 passed its loudspeaker's converter.
        public var loudspeakerStartSeconds: Double
    }

    /// A moment of a stream: the means over a piece of time.
    public struct Point: Codable, Hashable, Sendable {
        /// When the piece begins.
        public var seconds: Double
        /// By how long the promptest packet should wait.
        public var targetDepthMs: Double
        /// By how long it did.
        public var depthMs: Double
        /// From microphone to loudspeaker.
        public var mouthToEarMs: Double
    }

    /// What one peer heard of another.
    public struct Stream: Codable, Hashable, Sendable {
        /// Who spoke, by number.
        public var from: Int
        /// Who heard it.
        public var to: Int
        /// `pcm`, `opus`, `opus-custom` or `aac`, as was agreed on; over a slow link Opus may take the place of `pcm`.
        public var codec: String
        /// Hertz on the wire.
        public var rate: Double
        /// Frames of a packet, as was agreed on.
        public var packetFrames: Int
        /// Kilobits a second that were sent, RTP's headers, its reports and SRTP included, UDP's and IP's not.
        public var kilobitsPerSecond: Double
        /// The same without RTP's and SRTP's headers: what the codec made, what is repeated of it, and their formats' headers.
        public var payloadKilobitsPerSecond: Double
        /// How often less was sent from then on as the link was too slow, in the whole call.
        public var stepsDown: Int
        /// How often more was sent again.
        public var stepsUp: Int
        /// Whether at the end even the least that could be sent was too much for the link.
        public var isLinkTooSlow: Bool
        /// From the microphone's converter to the loudspeaker's; nil where nothing was heard.
        public var mouthToEarMs: Spread?
        /// On the way, of the packets that came.
        public var networkMs: Spread?
        /// How long the promptest packet should wait.
        public var targetDepthMs: Spread?
        /// How long it did.
        public var depthMs: Spread?
        /// The sender's clock against the receiver's at the end, in parts per million, as playout has it.
        public var driftPPM: Double
        /// Packets of sound.
        public var packetsSent: Int
        /// Of these, what the network lost, and of that what found a queue full.
        public var packetsLost: Int
        /// Of those lost, what found the queue of the link full.
        public var packetsOverflowed: Int
        /// Packets that came when their time had passed.
        public var packetsLate: Int
        /// Packets whose time came before they did.
        public var packetsMissing: Int
        /// Packets that a copy, a request or the codec's own redundancy brought in time and before they came themselves, if ever.
        public var packetsRecovered: Int
        /// Of these, what had been asked for.
        public var packetsRecoveredByRequest: Int
        /// Of these, what the packet behind it carried of it (Opus's in-band FEC).
        public var packetsRecoveredByCodec: Int
        /// Frames that were made up.
        public var concealedFrames: Int
        /// Their share of all that were heard, 0 to 1.
        public var concealedShare: Double
        /// Frames left out to shorten the delay or to follow a card that skipped.
        public var droppedFrames: Int
        /// Frames added to lengthen the delay.
        public var insertedFrames: Int
        /// Runs of blocks in which frames were made up, left out or added.
        public var glitches: Int
        /// The same a minute.
        public var glitchesPerMinute: Double
        /// At most 240, alike in length.
        public var series: [Point]
    }

    /// Of the configuration.
    public var seed: UInt64
    /// Seconds of the call.
    public var seconds: Double
    /// Second from which on it was counted.
    public var measuredFromSeconds: Double
    /// Whether packets were protected.
    public var isEncrypted: Bool
    /// All bytes that were sent, in hexadecimal: what is the same has gone the same way.
    public var digest: String
    /// In order.
    public var peers: [Peer]
    /// From each to each.
    public var streams: [Stream]
}
