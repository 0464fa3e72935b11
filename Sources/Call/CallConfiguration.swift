// SPDX-License-Identifier: Apache-2.0

import EarshotAudioCodecs
import EarshotMediaTransport
import EarshotPlayout

/// The negotiated format of a call, and the device it runs on.
public struct CallConfiguration: Hashable, Sendable {
    /// The codec of the sound.
    public var codec: Codec
    /// The sample rate on the wire in hertz, both ways.
    public var streamRate: Double
    /// The number of channels on the wire, 1 or 2.
    public var channelCount: Int
    /// The frames of a packet, at ``streamRate``: 1,024 for AAC; 120, 240, 480 or 960 for Opus. For PCM and Opus
    /// Custom those of a device's block, for Opus Custom at least 64. Their packets may be shorter: they have at most 1,200
    /// bytes, and Opus Custom sends multiples of 64 frames.
    public var framesPerPacket: Int
    /// The codec's bit rate in bits a second; unused for PCM.
    public var bitRate: Int
    /// The RTP payload type, both ways.
    package var payloadType: UInt8
    /// The negotiated repair of lost packets, both ways.
    package var repair = RTPRepair()
    /// The negotiated identifier of the packets' send times, both ways; nil for none.
    package var sendTimeID: UInt8?
    /// The maximum seconds of sound in a packet that the remote peer accepts, at most 0.12.
    package var longestPacket = 0.120
    /// The maximum bits a second of Opus that the remote peer accepts; `Int.max` for no limit.
    package var bitRateLimit = Int.max
    /// True if the bit rate may adapt to the link; the codec and the remote peer must allow it.
    package var changesRate = false
    /// True if the remote peer's decoder uses Opus's in-band redundancy (RFC 7587 §6.1).
    package var takesCodecRedundancy = false
    /// The remote peer's AAC decoder configuration; empty for other codecs.
    package var remoteAudioSpecificConfig: [UInt8]
    /// The device's sample rate in hertz.
    public var deviceRate: Double
    /// The frames of a device's block.
    package var deviceBlock: Int
    /// The frames of a block of the remote peer's device, at ``streamRate``; 0 if unknown.
    var remoteBlock = 0
    /// The local trade of delay against gaps. In ``CallStatistics`` it is the current one (``CallSession/latencyProfile``).
    public var latencyProfile: LatencyProfile

    /// Creates a configuration; ``CallPreferences`` makes it from an offer and an answer.
    package init(
        codec: Codec, streamRate: Double, channelCount: Int, framesPerPacket: Int, bitRate: Int, payloadType: UInt8,
        remoteAudioSpecificConfig: [UInt8] = [], deviceRate: Double, deviceBlock: Int,
        latencyProfile: LatencyProfile = .talk
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
        self.latencyProfile = latencyProfile
    }
}

/// The media negotiated with a remote peer, and the direction at the local peer, which is never `inactive`.
package struct NegotiatedMedia: Hashable, Sendable {
    package private(set) var configuration: CallConfiguration
    let direction: SessionDescription.Direction

    /// Returns true if running media may stay as it is: it has learned the delays of a changed remote device.
    func isSame(as other: NegotiatedMedia) -> Bool {
        var copy = self
        copy.configuration.remoteBlock = other.configuration.remoteBlock
        return copy == other
    }
}

extension CallConfiguration {
    /// The RTP clock rate in hertz, equal to the stream's rate. For Opus both are always 48 kHz (RFC 7587 §4.1).
    var rtpClockRate: Int { Int(streamRate) }

    /// The configuration for the playout of the received stream.
    package var playout: PlayoutConfiguration {
        var playout = PlayoutConfiguration(
            coding: codec.inCalls.decoding, streamRate: streamRate, deviceRate: deviceRate, channelCount: channelCount,
            framesPerPacket: framesPerPacket, latencyProfile: latencyProfile,
            fallback: alternativeCodec?.inCalls.decoding)
        playout.senderBlock = remoteBlock
        return playout
    }

    /// The codec to which media may change without a gap: PCM for Opus, Opus for PCM at 48 kHz; nil for other formats.
    var alternativeCodec: Codec? {
        guard streamRate == OpusEncoder.sampleRate else { return nil }
        return codec.traits.fallback ?? Codec.allCases.first { $0.traits.fallback == codec }
    }

    /// Returns true if media may change to a new configuration without a gap: encoder and playout continue.
    func canContinue(as new: CallConfiguration) -> Bool {
        alternativeCodec != nil && new.alternativeCodec != nil && streamRate == new.streamRate
            && channelCount == new.channelCount && deviceRate == new.deviceRate
    }

    /// Returns true if the sound is encoded in the same forms; their payload types may differ.
    func encodesLike(_ other: CallConfiguration) -> Bool {
        ladder == other.ladder && channelCount == other.channelCount && codecShift == other.codecShift
    }

    /// The frames by which a decoder's output lags behind the packet's position.
    package var codecShift: Int { codec.inCalls.shift(framesPerPacket: framesPerPacket) }

    /// Returns the delay of framing and the codec in seconds: a block or frame must be complete before it is encoded, and the
    /// encoder looks ahead.
    /// - Parameter framesPerPacket: the frames of received packets. A PCM block above 1,200 bytes comes in several packets, for
    ///   which the result is too small.
    package func codecDelay(framesPerPacket: Int) -> Double {
        Double(codec.inCalls.delay(framesPerPacket: framesPerPacket)) / streamRate
    }
}
