// SPDX-License-Identifier: Apache-2.0

/// An operation that a codec refused.
public enum CodecError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The codec does not support the rate, channel count, bit rate or the like; `detail` says what it supports.
    case unsupportedFormat(codec: String, detail: String)
    /// The libavcodec on this machine was built without the codec.
    case codecMissing(codec: String)
    /// The decoder's configuration, from the session description, is unusable.
    case badConfiguration(codec: String, detail: String)
    /// The packet is damaged, or of another codec or format. The next may be good.
    case badPacket(codec: String, detail: String)
    /// A block was passed after the encoder was flushed.
    case encoderFinished(codec: String)
    /// A call of the codec's library failed for an unknown reason; `code` is the library's error code.
    case libraryFailure(codec: String, call: String, code: Int)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .unsupportedFormat(let codec, let detail): "\(codec) cannot do this format: \(detail)"
        case .codecMissing(let codec): "this machine's libavcodec has no \(codec) codec"
        case .badConfiguration(let codec, let detail): "the peer's \(codec) configuration cannot be used (\(detail))"
        case .badPacket(let codec, let detail): "a \(codec) packet cannot be decoded (\(detail))"
        case .encoderFinished(let codec): "the \(codec) encoder was flushed and takes nothing more"
        case .libraryFailure(let codec, let call, let code): "\(codec): \(call) failed with code \(code)"
        }
    }
}
