// SPDX-License-Identifier: Apache-2.0

/// The codecs a call can use. docs/decisions/codec-is-six-files.md lists the files that a codec needs.
public enum Codec: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// AAC-LC in RFC 3640's mode AAC-hbr.
    case aac
    /// Opus (RFC 7587).
    case opus
    /// Opus Custom (RFC 6716 §6.2) in frames of 64; a packet has those that fill a block of the device. Only among native peers.
    case opusCustom = "opus-custom"
    /// Uncompressed 16-bit samples (L16).
    case pcm

    /// The name on the command line.
    public var description: String { rawValue }

    /// All codecs, the best first.
    package static let byPreference: [Codec] = [.opus, .pcm, .aac, .opusCustom]

    /// The codec's format in descriptions, and the handling of its packets.
    package var traits: Traits {
        switch self {
        case .aac: Traits(AACPayload.self, isDecodedAhead: true)
        case .opus: Traits(OpusPayload.self, isRepairable: true, hasOwnRedundancy: true)
        case .opusCustom: Traits(OpusCustomPayload.self, substitute: .opus)
        case .pcm: Traits(PCMPayload.self, isRepairable: true, fallback: .opus, hasBitRate: false)
        }
    }

    /// The differences between codecs.
    package struct Traits {
        let payload: any (FormattedPayload & ~Escapable).Type
        /// True if its packets are decoded on the media thread: its decoder may allocate.
        package let isDecodedAhead: Bool
        /// True if lost packets are repaired by RED, retransmission and NACK.
        package let isRepairable: Bool
        /// True if packets can contain copies of earlier ones.
        package let hasOwnRedundancy: Bool
        /// The codec that may replace it at the same clock rate.
        package let fallback: Codec?
        /// The codec that is offered besides, for peers that do not support it.
        package let substitute: Codec?
        /// False if the bit rate follows from the format.
        package let hasBitRate: Bool

        init(
            _ payload: any (FormattedPayload & ~Escapable).Type, isDecodedAhead: Bool = false,
            isRepairable: Bool = false,
            hasOwnRedundancy: Bool = false, fallback: Codec? = nil, substitute: Codec? = nil, hasBitRate: Bool = true
        ) {
            self.payload = payload
            self.isDecodedAhead = isDecodedAhead
            self.isRepairable = isRepairable
            self.hasOwnRedundancy = hasOwnRedundancy
            self.fallback = fallback
            self.substitute = substitute
            self.hasBitRate = hasBitRate
        }
    }
}

/// The payload of a codec with a name in session descriptions.
protocol FormattedPayload: ~Escapable {
    /// Returns true if a format names this codec, with supported parameters.
    static func isNamed(by format: MediaFormat) -> Bool
}
