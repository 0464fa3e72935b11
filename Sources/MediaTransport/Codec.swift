// SPDX-License-Identifier: Apache-2.0

/// The codecs a call can use. docs/decisions/codec-is-six-files.md lists the files that a codec needs.
public enum Codec: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// AAC-LC in RFC 3640's mode AAC-hbr.
    case aac
    /// Opus (RFC 7587).
    case opus
    /// Opus Custom (RFC 6716 §6.2) with 64 samples a frame; a packet has the frames that fill one block of the audio device.
    /// Only native peers, not browsers, support it.
    case opusCustom = "opus-custom"
    /// Uncompressed 16-bit samples (L16).
    case pcm

    /// The name on the command line.
    public var description: String { rawValue }

    /// All codecs in order of preference, the most preferred first.
    package static let byPreference: [Codec] = [.opus, .pcm, .aac, .opusCustom]

    /// The codec's payload format and the properties by which its packets are handled.
    package var traits: Traits {
        switch self {
        case .aac: Traits(AACPayload.self, isDecodedAhead: true)
        case .opus: Traits(OpusPayload.self, isRepairable: true, hasOwnRedundancy: true)
        case .opusCustom: Traits(OpusCustomPayload.self, substitute: .opus)
        case .pcm: Traits(PCMPayload.self, isRepairable: true, fallback: .opus, hasBitRate: false)
        }
    }

    /// The properties in which codecs differ.
    package struct Traits {
        let payload: any (FormattedPayload & ~Escapable).Type
        /// True if the codec's packets are decoded on the media thread, ahead of playout, because its decoder may allocate.
        package let isDecodedAhead: Bool
        /// True if lost packets of this codec can be repaired by RED (redundant blocks), NACKs and retransmissions.
        package let isRepairable: Bool
        /// True if the codec itself can put copies of earlier sound into its packets.
        package let hasOwnRedundancy: Bool
        /// The codec that may replace this one at the same clock rate while the link is slow; nil if none may.
        package let fallback: Codec?
        /// The codec that is offered as well, for peers that do not support this one; nil if none is.
        package let substitute: Codec?
        /// False if the sample rate and the channels alone determine the bit rate, as for PCM.
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

/// The payload of a codec, with a test for the codec's formats in session descriptions.
protocol FormattedPayload: ~Escapable {
    /// Returns true if a format names this codec, with supported parameters.
    static func isNamed(by format: MediaFormat) -> Bool
}
