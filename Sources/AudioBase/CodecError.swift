// SPDX-License-Identifier: Apache-2.0

/// An operation that a codec refused.
public enum CodecError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A rate, channel count, bit rate or the like that the codec does not have; `detail` says which and what it has.
    case unsupportedFormat(codec: String, detail: String)
    /// The library on this machine was built without the codec.
    case codecMissing(codec: String)
    /// The decoder's configuration, which came with the session description, is not one it can use.
    case badConfiguration(codec: String, detail: String)
    /// A packet that is not of this codec, damaged, or of another format than the session's. The next may be good.
    case badPacket(codec: String, detail: String)
    /// A block was passed after the encoder was flushed.
    case encoderFinished(codec: String)
    /// The library reported a failure that no input explains; `code` is its own.
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
