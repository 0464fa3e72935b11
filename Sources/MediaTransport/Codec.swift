/// The codecs a call can use.
public enum Codec: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// AAC-LC in RFC 3640's mode AAC-hbr.
    case aac
    /// Opus (RFC 7587).
    case opus
    /// Opus Custom (RFC 6716 §6.2) in frames of 64, as many a packet as a block of the device's has; among native peers only.
    case opusCustom = "opus-custom"
    /// 16-bit samples as they are (L16).
    case pcm

    /// The name, as on the command line.
    public var description: String { rawValue }
}
