// SPDX-License-Identifier: Apache-2.0

/// A session description of one audio stream over RTP (RFC 8866, the subset a call needs). Of other media in it, which a
/// browser offers beside, only what their refusal needs is kept.
public struct SessionDescription: Hashable, Sendable {
    /// Bytes of a description at most.
    package static let maximumSize = 65_536

    /// The originator of the session (§5.2).
    package struct Origin: Hashable, Sendable {
        /// `-` for none; without spaces.
        package var username: String
        /// The session's random identifier.
        package var sessionID: UInt64
        /// Grows when the description changes.
        package var version: UInt64
        /// The address of the describing machine; unspecified if it has given its name.
        package var address: IPAddress
    }

    /// The direction of media, as the describing side sees it (§6.7).
    public enum Direction: String, Hashable, Sendable, CaseIterable {
        /// Both ways.
        case sendReceive = "sendrecv"
        /// To the other side only.
        case sendOnly = "sendonly"
        /// From the other side only.
        case receiveOnly = "recvonly"
        /// Neither way.
        case inactive

        /// The same as the other side sees it (RFC 3264 §6.1).
        package var mirrored: Direction {
            switch self {
            case .sendOnly: .receiveOnly
            case .receiveOnly: .sendOnly
            default: self
            }
        }
    }

    /// The `o=` line.
    package var origin: Origin
    /// The `s=` line; `-` for none.
    public var name: String
    /// The address at which the describing side receives media: the media's `c=` line, else the session's.
    public var address: IPAddress
    /// The port it receives on; 0 refuses the stream.
    public var port: UInt16
    /// The transport and protection of the stream.
    public var profile: Profile
    /// In order of preference; at least one in a parsed description.
    public var formats: [MediaFormat]
    /// The direction of media.
    public var direction: Direction
    /// Milliseconds of audio the describing side likes to get in a packet; need not be whole.
    public var packetTime: Double?
    /// Milliseconds of audio it takes in a packet at most.
    package var maximumPacketTime: Double?
    /// True if it takes RTCP on the port of RTP (RFC 5761). ``RTPSession`` always sends it there.
    package var multiplexesRTCP: Bool
    /// `a=rtcp-xr` of the media: which extended reports it would like to get (RFC 3611 §5.1); empty for none.
    package var extendedReports: [String]
    /// `a=mid`, the stream's name in ``bundle`` (RFC 5888); nil for none.
    package var mediaID: String?
    /// `a=group:BUNDLE`: the names of media that share one port (RFC 9143); empty for none.
    package var bundle: [String]
    /// The describing side's ICE parameters; nil if it does not use ICE.
    public var ice: ICE?
    /// Media other than the stream that are described before it. An answer refuses them.
    package internal(set) var mediaBefore: [OtherMedia]
    /// Media other than the stream that are described behind it. An answer refuses them.
    package internal(set) var mediaBehind: [OtherMedia]
    /// Attributes of the session that are not understood, without `a=`; kept as they came.
    package var otherSessionAttributes: [String]
    /// Attributes of the media that are not understood, without `a=`; kept as they came.
    package var otherMediaAttributes: [String]

    /// A description of a stream both ways, RTCP on the same port.
    /// - Parameters:
    ///   - address: where we receive.
    ///   - port: the port we receive on.
    ///   - packetTime: milliseconds of audio we like to get in a packet.
    ///   - sessionID: random.
    ///   - profile: plain RTP unless said otherwise.
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
        multiplexesRTCP = true
        extendedReports = []
        mediaID = nil
        bundle = []
        ice = nil
        (mediaBefore, mediaBehind) = ([], [])
        otherSessionAttributes = []
        otherMediaAttributes = []
    }
}
