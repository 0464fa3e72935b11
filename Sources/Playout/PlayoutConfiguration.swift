// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The stream and the device of a ``Playout``.
public struct PlayoutConfiguration: Sendable, Equatable {
    /// The codec of the packets.
    public var coding: RenderCodec
    /// Frames a second of the stream, by its sender's clock.
    public var streamRate: Double
    /// Frames a second of the device that plays, by its own clock.
    public var deviceRate: Double
    /// Channels of the stream, 1 or 2.
    public var channelCount: Int
    /// Frames the sender puts in a packet; packets of other lengths play too.
    public var framesPerPacket: Int
    /// Output frames one pull may ask for.
    package var maximumFrameCount: Int
    /// Seconds kept in hand beyond what the dial wants.
    package var margin: Double
    /// Seconds in hand at the start, when nothing is known of the network; a sixteenth of the dial's ceiling if that is
    /// more.
    package var initialMargin: Double
    /// The trade of delay against gaps; ``Playout/dial`` changes it during playback.
    public var dial: PlayoutDial
    /// Another codec that packets may be in (``PacketHeader/isFallbackCodec``); nil for none.
    package var fallback: RenderCodec?

    /// Seconds that the promptest packet waits, whatever the network does and the dial says; 0 for what the dial says.
    package var fixedDepth = 0.0
    /// True if the device's cycles are pulled later than they were: a packet then counts from the first cycle on that began
    /// after it came, so that it makes no difference how much later.
    package var isPulledLater = false

    /// A playout of these values; the times left out are those of a call on one network. A fallback of another rate is
    /// left out.
    public init(
        coding: RenderCodec, streamRate: Double, deviceRate: Double, channelCount: Int, framesPerPacket: Int,
        maximumFrameCount: Int = IOCycle.maximumFrameCount, margin: Double = 0.0005, initialMargin: Double = 0.003,
        dial: PlayoutDial = .talk, fallback: RenderCodec? = nil
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
        self.fallback = fallback.flatMap {
            $0 != coding && $0.sampleRate ?? streamRate == streamRate ? $0 : nil
        }
    }

    /// Packets that may have come and wait: of 0.75 s, 2 s where cycles are pulled later; at least 256, at most 2,048. A packet that
    /// is a block of the sender's card may be shorter than what is reckoned with.
    var packetCapacity: Int {
        let frames = coding.packetsAreBlocks ? min(64, framesPerPacket) : framesPerPacket
        return max(256, min(2_048, Int((isPulledLater ? 2 : 0.75) * streamRate) / max(1, frames)))
    }

    /// Bytes of a packet's payload at most on its way to the callback.
    var payloadCapacity: Int { coding.payloadCapacity ?? framesPerPacket * channelCount * 4 }
}
