// SPDX-License-Identifier: Apache-2.0

/// The reason that a packet was not protected, or not accepted.
public enum SRTPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Too short, or no header of RTP or RTCP; the value is its size in bytes.
    case malformed(Int)
    /// Not from the peer, or changed on its way.
    case authentication
    /// A packet that was taken, or sent, before.
    case replay
    /// A packet older than the replay window.
    case tooOld
    /// One source more than ``SRTPSession/maximumSources``.
    case tooManySources
    /// A key that has protected all it may (2^48 packets of RTP, 2^31 of RTCP); new ones come of a new DTLS session.
    case keyExpired
    /// Another error of libsrtp; the value is its `srtp_err_status_t`.
    case system(UInt32)

    /// One line for a log.
    public var description: String {
        switch self {
        case .malformed(let count): "a datagram of \(count) bytes is no SRTP"
        case .authentication: "a packet is not from the peer, or was changed on its way"
        case .replay: "a packet comes for the second time"
        case .tooOld: "a packet is too late to tell whether it comes for the second time"
        case .tooManySources: "the peer sends from more than \(SRTPSession.maximumSources) sources"
        case .keyExpired: "the key has protected all the packets it may"
        case .system(let status): "libsrtp: error \(status)"
        }
    }
}
