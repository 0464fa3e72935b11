// SPDX-License-Identifier: Apache-2.0

/// The reason that bytes are not an RTP packet or an RTCP compound packet (RFC 3550 §5.1, appendices A.1 and A.2).
public enum RTPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The datagram is shorter than the fixed header; the value is the datagram's length in bytes.
    case tooShort(Int)
    /// The version is not 2; the value is the version.
    case wrongVersion(UInt8)
    /// The contributing sources or the header extension exceed the datagram.
    case headerOverrun
    /// The padding count is zero, or exceeds the bytes after the header. In RTCP also: it is no multiple of four, or the padded
    /// packet is not the last.
    case badPadding
    /// The RTCP compound packet does not begin with an unpadded report.
    case noReportFirst
    /// The length of an RTCP packet exceeds the datagram, or is too small for the packet's content.
    case badReportLength

    /// One line for a log.
    public var description: String {
        switch self {
        case .tooShort(let count):
            "a datagram of \(count) bytes is too short for RTP"
        case .wrongVersion(let version): "RTP version \(version) instead of 2"
        case .headerOverrun: "the RTP header reaches beyond the datagram; the packet was cut or the sender is faulty"
        case .badPadding: "the RTP padding is longer than the packet; the packet was cut or the sender is faulty"
        case .noReportFirst: "an RTCP packet that does not begin with a report"
        case .badReportLength: "an RTCP length is wrong; the packet was cut or the sender is faulty"
        }
    }
}
