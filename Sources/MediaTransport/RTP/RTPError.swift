// SPDX-License-Identifier: Apache-2.0

/// The reason that bytes are not an RTP packet or an RTCP compound packet (RFC 3550 §5.1, appendices A.1 and A.2).
public enum RTPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Shorter than its fixed header; the value is the length in bytes.
    case tooShort(Int)
    /// The version bits are not 2; the value is what they are.
    case wrongVersion(UInt8)
    /// Contributing sources or the header extension reach beyond the datagram.
    case headerOverrun
    /// The padding count is zero or exceeds what follows the header.
    case badPadding
    /// An RTCP compound packet that does not begin with an unpadded report.
    case noReportFirst
    /// An RTCP length that reaches beyond the datagram or is too small for what the packet says it holds.
    case badReportLength

    /// One line for a log.
    public var description: String {
        switch self {
        case .tooShort(let count):
            "a datagram of \(count) bytes is too short for RTP"
        case .wrongVersion(let version): "RTP version \(version) instead of 2"
        case .headerOverrun: "the RTP header reaches beyond the datagram; the sender is broken or it was cut"
        case .badPadding: "the RTP padding is longer than the packet; the sender is broken or it was cut"
        case .noReportFirst: "an RTCP packet that does not begin with a report"
        case .badReportLength: "an RTCP length that does not fit; the sender is broken or it was cut"
        }
    }
}
