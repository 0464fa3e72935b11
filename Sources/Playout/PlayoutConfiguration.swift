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
    /// Seconds kept in hand beyond the latest packet of the last 12 s, the worst second left out.
    public var margin: Double
    /// Seconds in hand at the start, when nothing is known of the network.
    public var initialMargin: Double
    /// Seconds of jitter followed at most; what comes later than that is lost.
    public var ceiling: Double

    /// A playout of these values; the times left out are those of a call on one network.
    public init(
        coding: PlayoutCoding, streamRate: Double, deviceRate: Double, channelCount: Int, framesPerPacket: Int,
        maximumFrameCount: Int = IOCycle.maximumFrameCount, margin: Double = 0.0005, initialMargin: Double = 0.003,
        ceiling: Double = 0.150
    ) {
        self.coding = coding
        self.streamRate = streamRate
        self.deviceRate = deviceRate
        self.channelCount = channelCount
        self.framesPerPacket = framesPerPacket
        self.maximumFrameCount = maximumFrameCount
        self.margin = margin
        self.initialMargin = initialMargin
        self.ceiling = ceiling
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
