import AudioBase

/// How a stream is coded when it reaches the render callback.
public enum PlayoutCoding: Sendable, Equatable {
    /// L16, decoded in the callback.
    case pcm
    /// Opus, decoded in the callback; its own concealment bridges losses.
    case opus
    /// Frames of Opus Custom, each 64 of sound and all of a packet of one size, decoded in the callback.
    case opusCustom
    /// Decoded ahead by the media thread (decoders that may allocate): planar floats, one channel after the other.
    case decoded
}

/// What a ``Playout`` must know before it starts.
public struct PlayoutConfiguration: Sendable, Equatable {
    /// How the packets are coded.
    public var coding: PlayoutCoding
    /// Frames a second of the stream, by its sender's clock.
    public var streamRate: Double
    /// Frames a second of the device that plays, by its own clock.
    public var deviceRate: Double
    /// Channels of the stream, 1 or 2.
    public var channelCount: Int
    /// Frames the sender puts in a packet; packets of other lengths play too.
    public var framesPerPacket: Int
    /// Output frames one pull may ask for.
    public var maximumFrameCount: Int
    /// Seconds kept in hand beyond what the dial wants.
    public var margin: Double
    /// Seconds in hand at the start, when nothing is known of the network; a sixteenth of the dial's ceiling if that is
    /// more.
    public var initialMargin: Double
    /// How much delay is paid for how few gaps; ``Playout/Playout/dial`` changes it while it plays.
    public var dial: PlayoutDial
    /// Whether packets of Opus may stand in for those of ``PlayoutCoding/pcm`` at 48 kHz.
    public var hasOpusReserve: Bool

    /// Seconds that the promptest packet waits, whatever the network does and the dial says; 0 for what the dial says.
    public var fixedDepth = 0.0
    /// Whether the device's cycles are pulled later than they were: a packet then counts from the first cycle on that began
    /// after it came, so that it makes no difference how much later.
    public var isPulledLater = false

    /// A playout of these values; the times left out are those of a call on one network.
    public init(
        coding: PlayoutCoding, streamRate: Double, deviceRate: Double, channelCount: Int, framesPerPacket: Int,
        maximumFrameCount: Int = IOCycle.maximumFrameCount, margin: Double = 0.0005, initialMargin: Double = 0.003,
        dial: PlayoutDial = .talk, hasOpusReserve: Bool = false
    ) {
        self.coding = coding
        self.streamRate = streamRate
        self.deviceRate = deviceRate
        self.channelCount = channelCount
        self.framesPerPacket = framesPerPacket
        self.maximumFrameCount = maximumFrameCount
        self.margin = margin
        self.initialMargin = initialMargin
        self.dial = dial
        self.hasOpusReserve = hasOpusReserve && coding == .pcm && streamRate == 48_000
    }

    /// Packets that may have come and wait: of 0.75 s, 2 s where cycles are pulled later; at least 256, at most 2,048. A packet that
    /// is a block of the sender's card may be shorter than what is reckoned with.
    var packetCapacity: Int {
        let frames = coding == .pcm || coding == .opusCustom ? min(64, framesPerPacket) : framesPerPacket
        return max(256, min(2_048, Int((isPulledLater ? 2 : 0.75) * streamRate) / max(1, frames)))
    }

    /// Bytes a packet's payload takes at most on its way to the callback.
    var payloadCapacity: Int {
        switch coding {
        case .pcm, .opusCustom: 1_216
        case .opus: 1_280
        case .decoded: framesPerPacket * channelCount * 4
        }
    }
}
