// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The configuration of a ``Playout``: the stream and the device.
public struct PlayoutConfiguration: Sendable, Equatable {
    /// The codec of the packets.
    public var coding: RenderCodec
    /// The frames a second of the stream, by its sender's clock.
    public var streamRate: Double
    /// The frames a second of the playing device, by its own clock.
    public var deviceRate: Double
    /// The number of channels of the stream, 1 or 2.
    public var channelCount: Int
    /// The usual frames of a packet; packets of other lengths play too.
    public var framesPerPacket: Int
    /// The maximum output frames of one pull.
    package var maximumFrameCount: Int
    /// The seconds of delay beyond what the latency profile requires.
    package var margin: Double
    /// The margin in seconds at the start, when the network is unknown; a sixteenth of the profile's ceiling if that is more.
    package var initialMargin: Double
    /// The trade of delay against gaps; ``Playout/latencyProfile`` changes it during playback.
    public var latencyProfile: LatencyProfile
    /// A second codec that packets may have (``PacketHeader/isFallbackCodec``); nil for none.
    package var fallback: RenderCodec?

    /// The stream's frames that the sender's device captures at once; 0 if unknown. Packets of another length wait for the end of a
    /// block, so their delays vary.
    package var senderBlock = 0
    /// The seconds that the earliest packet waits, whatever the network and the profile; 0 to follow the profile.
    package var fixedDepth = 0.0
    /// True if the device's cycles are pulled later than they happened: a packet then counts from the first cycle that began
    /// after its arrival, so that the lateness does not matter.
    package var isPulledLater = false

    /// Creates a configuration; default times are those of a call on one network. A fallback of another rate, or equal to the
    /// codec, is ignored.
    public init(
        coding: RenderCodec, streamRate: Double, deviceRate: Double, channelCount: Int, framesPerPacket: Int,
        maximumFrameCount: Int = IOCycle.maximumFrameCount, margin: Double = 0.0005, initialMargin: Double = 0.003,
        latencyProfile: LatencyProfile = .talk, fallback: RenderCodec? = nil
    ) {
        self.coding = coding
        self.streamRate = streamRate
        self.deviceRate = deviceRate
        self.channelCount = channelCount
        self.framesPerPacket = framesPerPacket
        self.maximumFrameCount = maximumFrameCount
        self.margin = margin
        self.initialMargin = initialMargin
        self.latencyProfile = latencyProfile
        self.fallback = fallback.flatMap {
            $0 != coding && $0.sampleRate ?? streamRate == streamRate ? $0 : nil
        }
    }

    /// The packets for which the queue has room: those of 0.75 s, or of 2 s if cycles are pulled later, clamped to
    /// 256…2,048. A packet that is a block of the sender's card counts as 64 frames at most, as it may be shorter than expected.
    var packetCapacity: Int {
        let mayBeBlocks = coding.packetsAreBlocks || fallback?.packetsAreBlocks == true
        let frames = mayBeBlocks ? min(64, framesPerPacket) : framesPerPacket
        return max(256, min(2_048, Int((isPulledLater ? 2 : 0.75) * streamRate) / max(1, frames)))
    }

    /// The maximum bytes of a payload on its way to the callback.
    var payloadCapacity: Int {
        max(coding.payloadCapacity ?? framesPerPacket * channelCount * 4, fallback?.payloadCapacity ?? 0)
    }
}
