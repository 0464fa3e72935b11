// SPDX-License-Identifier: Apache-2.0

/// The reason that a packet was not protected, or not accepted.
public enum SRTPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The packet is too short, or has no header of RTP or RTCP; the value is the packet's size in bytes.
    case malformed(Int)
    /// The packet is not from the peer, or was modified.
    case authentication
    /// The packet was received, or sent, before.
    case replay
    /// The packet is older than the replay window, so that it may have been received or sent before.
    case tooOld
    /// There are more sources than ``SRTPSession/maximumSources``.
    case tooManySources
    /// The key has protected the maximum number of packets (2^48 of RTP, 2^31 of RTCP); a new DTLS session has a new one.
    case keyExpired
    /// Another error of libsrtp; the value is its `srtp_err_status_t`.
    case system(UInt32)

    /// One line for a log.
    public var description: String {
        switch self {
        case .malformed(let count): "a datagram of \(count) bytes is not SRTP"
        case .authentication: "a packet is not from the peer, or was changed on its way"
        case .replay: "a packet comes for the second time"
        case .tooOld: "a packet is too late to tell whether it comes for the second time"
        case .tooManySources: "the peer sends from more than \(SRTPSession.maximumSources) sources"
        case .keyExpired: "the key has protected all the packets it may"
        case .system(let status): "libsrtp: error \(status)"
        }
    }
}
