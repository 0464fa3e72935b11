// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotPlayout

/// The negotiated format of a call, and the device it runs on.
public struct CallConfiguration: Hashable, Sendable {
    /// The codec of the sound.
    public var codec: Codec
    /// Frames a second on the wire, both ways.
    public var streamRate: Double
    /// Channels on the wire, 1 or 2.
    public var channelCount: Int
    /// Frames a packet covers: 1024 for AAC; 120, 240, 480 or 960 for Opus; for PCM the frames of a block, and for Opus
    /// Custom as many of its 64 as a block completes; both are split into packets of at most 1,200 bytes.
    public var framesPerPacket: Int
    /// Bits a second of the codec; without meaning for PCM.
    public var bitRate: Int
    /// RTP payload type, both ways.
    package var payloadType: UInt8
    /// The negotiated repair of lost packets, both ways.
    package var repair = RTPRepair()
    /// Seconds of sound in a packet that the remote peer takes at most.
    package var longestPacket = 0.120
    /// Bits a second of Opus that the remote peer does not want to be exceeded.
    package var bitRateLimit = Int.max
    /// True if the bit rate follows what the link carries.
    package var changesRate = false
    /// True if the remote peer's decoder makes use of what Opus packets can carry of the one before (RFC 7587 §6.1).
    package var takesCodecRedundancy = false
    /// The remote peer's AAC decoder configuration; empty for other codecs.
    package var remoteAudioSpecificConfig: [UInt8]
    /// Frames a second of the device.
    public var deviceRate: Double
    /// Frames the device hands over at a time.
    package var deviceBlock: Int
    /// The trade of delay against gaps at this end. In ``CallStatistics`` it is the present one (``CallSession/dial``).
    public var dial: PlayoutDial

    /// A call of these values; ``CallPreferences`` makes it out of an offer and an answer.
    package init(
        codec: Codec, streamRate: Double, channelCount: Int, framesPerPacket: Int, bitRate: Int, payloadType: UInt8,
        remoteAudioSpecificConfig: [UInt8] = [], deviceRate: Double, deviceBlock: Int,
        dial: PlayoutDial = .talk
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
        self.dial = dial
    }
}

/// The media negotiated with a remote peer, and its directions, as this end sees it; never neither.
package struct NegotiatedMedia: Hashable, Sendable {
    package let configuration: CallConfiguration
    let direction: SessionDescription.Direction
}

extension CallConfiguration {
    /// Opus's RTP clock is 48 kHz whatever it carries (RFC 7587 §4.1), and so is its stream here.
    var rtpClockRate: Int { Int(streamRate) }

    /// The stream for a playout.
    package var playout: PlayoutConfiguration {
        PlayoutConfiguration(
            coding: codec.inCalls.decoding, streamRate: streamRate, deviceRate: deviceRate, channelCount: channelCount,
            framesPerPacket: framesPerPacket, dial: dial,
            fallback: repair.reserve == nil ? nil : codec.traits.fallback?.inCalls.decoding)
    }

    /// Frames by which a decoder's sound lies behind the place that its packet names.
    package var codecShift: Int { codec.inCalls.shift(framesPerPacket: framesPerPacket) }

    /// Seconds that framing and the codec cost: a block or a frame must be full before it is coded, and the coder looks ahead.
    /// - Parameter framesPerPacket: of the packets that come. PCM blocks above 1,200 bytes come in several; they count as one
    ///   of these, and so too little.
    package func codecDelay(framesPerPacket: Int) -> Double {
        Double(codec.inCalls.delay(framesPerPacket: framesPerPacket)) / streamRate
    }
}
