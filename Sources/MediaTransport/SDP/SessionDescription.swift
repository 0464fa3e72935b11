// SPDX-License-Identifier: Apache-2.0

/// A session description of one audio stream over RTP (RFC 8866, the subset for calls). Browsers offer other media too; the
/// description keeps the parts that an answer needs to refuse them.
public struct SessionDescription: Hashable, Sendable {
    /// The maximum bytes of a description.
    package static let maximumSize = 65_536

    /// The originator of the session (§5.2).
    package struct Origin: Hashable, Sendable {
        /// The user name without spaces; `-` for none.
        package var username: String
        /// The session's random identifier.
        package var sessionID: UInt64
        /// The version, incremented when the description changes.
        package var version: UInt64
        /// The address of the describing machine; unspecified if it has given a host name.
        package var address: IPAddress
    }

    /// The direction of media at the describing side (§6.7).
    public enum Direction: String, Hashable, Sendable, CaseIterable {
        /// Both ways.
        case sendReceive = "sendrecv"
        /// To the other side only.
        case sendOnly = "sendonly"
        /// From the other side only.
        case receiveOnly = "recvonly"
        /// Neither way.
        case inactive

        /// The direction at the other side (RFC 3264 §6.1).
        package var mirrored: Direction {
            switch self {
            case .sendOnly: .receiveOnly
            case .receiveOnly: .sendOnly
            default: self
            }
        }
    }

    /// The originator of the session: the `o=` line.
    package var origin: Origin
    /// The name of the session: the `s=` line; `-` for none.
    public var name: String
    /// The address at which the describing side receives media: the `c=` line of the media, or else of the session.
    public var address: IPAddress
    /// The port at which the describing side receives media; 0 refuses the stream.
    public var port: UInt16
    /// The transport and protection of the stream.
    public var profile: Profile
    /// The formats by preference; at least one in a parsed description.
    public var formats: [MediaFormat]
    /// The direction of media at the describing side.
    public var direction: Direction
    /// The preferred milliseconds of audio in a packet; may be fractional.
    public var packetTime: Double?
    /// The maximum milliseconds of audio in a packet.
    package var maximumPacketTime: Double?
    /// `a=x-earshot-block`: the milliseconds of sound that the describing side's device captures at once; nil if unknown.
    package var blockTime: Double?
    /// True if the describing side receives RTCP on the port of RTP (RFC 5761). ``RTPSession`` always sends it there.
    package var multiplexesRTCP: Bool
    /// `a=rtcp-xr` of the media: the requested extended reports (RFC 3611 §5.1); empty for none.
    package var extendedReports: [String]
    /// `a=extmap` of the media: the identifier of ``SendTimeExtension``, 1 to 14; nil if it is not supported.
    package var sendTimeID: UInt8?
    /// `a=mid`, the stream's name in ``bundle`` (RFC 5888); nil for none.
    package var mediaID: String?
    /// `a=group:BUNDLE`: the names of media that share one port (RFC 9143); empty for none.
    package var bundle: [String]
    /// The describing side's ICE parameters; nil if it does not use ICE.
    public var ice: ICE?
    /// Other media described before the stream. An answer refuses them.
    package internal(set) var mediaBefore: [OtherMedia]
    /// Other media described after the stream. An answer refuses them.
    package internal(set) var mediaBehind: [OtherMedia]
    /// Unknown attributes of the session, without `a=`, unchanged.
    package var otherSessionAttributes: [String]
    /// Unknown attributes of the media, without `a=`, unchanged.
    package var otherMediaAttributes: [String]

    /// Creates a description of a stream in both directions, with RTCP on the same port.
    /// - Parameters:
    ///   - address: the local address.
    ///   - port: the local port.
    ///   - packetTime: the preferred milliseconds of audio in a packet.
    ///   - sessionID: the session's identifier; random.
    ///   - profile: plain RTP by default.
    public init(
        formats: [MediaFormat], address: IPAddress, port: UInt16, packetTime: Double? = nil, sessionID: UInt64,
        name: String = "Earshot", profile: Profile = .avp
    ) {
        origin = Origin(username: "-", sessionID: sessionID, version: 1, address: address)
        self.name = name
        self.address = address
        self.port = port
        self.profile = profile
        self.formats = formats
        direction = .sendReceive
        self.packetTime = packetTime
        maximumPacketTime = nil
        blockTime = nil
        multiplexesRTCP = true
        extendedReports = []
        sendTimeID = nil
        mediaID = nil
        bundle = []
        ice = nil
        (mediaBefore, mediaBehind) = ([], [])
        otherSessionAttributes = []
        otherMediaAttributes = []
    }
}
