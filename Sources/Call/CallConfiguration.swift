import AudioCodecs
import MediaTransport

/// What both sides of a call agreed on, and the device it runs on.
public struct CallConfiguration: Sendable {
    /// How the sound travels.
    public var codec: Codec
    /// Frames a second on the wire, both ways.
    public var streamRate: Double
    /// Channels on the wire, 1 or 2.
    public var channelCount: Int
    /// Frames a packet covers: 1024 for AAC; 120, 240, 480 or 960 for Opus; for PCM the frames of a block, which are split
    /// into packets of at most 1,200 bytes.
    public var framesPerPacket: Int
    /// Bits a second, for AAC and Opus.
    public var bitRate: Int
    /// RTP payload type, both ways.
    public var payloadType: UInt8
    /// What the far side's AAC decoder configuration is; empty for other codecs.
    public var remoteAudioSpecificConfig: [UInt8]
    /// Frames a second of the device.
    public var deviceRate: Double
    /// Frames the device hands over at a time.
    public var deviceBlock: Int

    /// A call of these values; ``CallPreferences`` makes it out of an offer and an answer.
    public init(
        codec: Codec, streamRate: Double, channelCount: Int, framesPerPacket: Int, bitRate: Int, payloadType: UInt8,
        remoteAudioSpecificConfig: [UInt8] = [], deviceRate: Double, deviceBlock: Int
    ) {
        self.codec = codec
        self.streamRate = streamRate
        self.channelCount = channelCount
        self.framesPerPacket = framesPerPacket
        self.bitRate = bitRate
        self.payloadType = payloadType
        self.remoteAudioSpecificConfig = remoteAudioSpecificConfig
        self.deviceRate = deviceRate
        self.deviceBlock = deviceBlock
    }
}
