// SPDX-License-Identifier: Apache-2.0

extension SessionDescription {
    /// Returns an offer of a stream in both directions (RFC 3264 §5).
    /// - Parameters:
    ///   - formats: the formats that the local side can send and receive, by preference; at least one.
    ///   - address: the local address.
    ///   - port: the local port.
    ///   - packetTime: the preferred milliseconds of audio in a packet; may be fractional.
    ///   - sessionID: the session's identifier; random.
    ///   - profile: plain RTP by default.
    public static func offer(
        formats: [MediaFormat], address: IPAddress, port: UInt16, packetTime: Double? = nil, sessionID: UInt64,
        profile: Profile = .avp
    ) -> SessionDescription {
        precondition(!formats.isEmpty, "an offer needs a format")
        return SessionDescription(
            formats: formats, address: address, port: port, packetTime: packetTime, sessionID: sessionID,
            profile: profile)
    }

    /// Returns the answer to an offer (RFC 3264 §6): the first offered format that both sides support, with the offer's payload
    /// type and local parameters, over the offer's transport, with its media's names. Everything else in the offer is refused.
    /// - Parameters:
    ///   - formats: the formats that the local side can send and receive; they match by encoding, rate and channels.
    ///   - codec: the only acceptable codec; nil for any.
    ///   - packetTime: the preferred milliseconds of audio in a packet; nil for the offer's.
    ///   - sessionID: the session's identifier; random.
    public static func answer(
        to offer: SessionDescription, supporting formats: [MediaFormat], preferring codec: Codec? = nil,
        address: IPAddress, port: UInt16, packetTime: Double? = nil, sessionID: UInt64
    ) throws(NegotiationError) -> SessionDescription {
        guard offer.port != 0 else { throw .noAudio }
        for offered in offer.formats where offered.codec != nil && (codec == nil || offered.codec == codec) {
            guard var format = formats.first(where: { $0.matches(offered) }) else { continue }
            format.payloadType = offered.payloadType
            format.complete(answering: offered)
            return reply(
                to: offer, with: format, direction: offer.direction.mirrored, address: address, port: port,
                packetTime: packetTime ?? offer.packetTime, sessionID: sessionID)
        }
        throw .noCommonFormat(
            offered: offer.formats.map(\.description), supported: formats.map(\.description), required: codec)
    }

    /// Returns an answer that accepts an offer's stream, in the first offered format, but without media in either direction.
    package static func inactiveAnswer(
        to offer: SessionDescription, address: IPAddress, port: UInt16, sessionID: UInt64
    ) throws(NegotiationError) -> SessionDescription {
        guard offer.port != 0, let format = offer.formats.first else { throw .noAudio }
        return reply(
            to: offer, with: format, direction: .inactive, address: address, port: port, packetTime: nil,
            sessionID: sessionID)
    }

    private static func reply(
        to offer: SessionDescription, with format: MediaFormat, direction: Direction, address: IPAddress, port: UInt16,
        packetTime: Double?, sessionID: UInt64
    ) -> SessionDescription {
        var answer = SessionDescription(
            formats: [format], address: address, port: port, packetTime: packetTime, sessionID: sessionID,
            profile: offer.profile)
        answer.direction = direction
        answer.multiplexesRTCP = offer.multiplexesRTCP
        answer.mediaID = offer.mediaID
        if let id = offer.mediaID, offer.bundle.contains(id) { answer.bundle = [id] }
        answer.mediaBefore = offer.mediaBefore.map(\.refused)
        answer.mediaBehind = offer.mediaBehind.map(\.refused)
        return answer
    }

    /// Returns the format chosen by an answer to this offer, with the answerer's parameters.
    public func format(chosenBy answer: SessionDescription) throws(NegotiationError) -> MediaFormat {
        guard answer.port != 0 else { throw .noAudio }
        guard answer.profile.isSecure == profile.isSecure else {
            throw .otherTransport(answered: answer.profile, offered: profile)
        }
        for chosen in answer.formats where chosen.repair == nil {
            guard formats.contains(where: { $0.payloadType == chosen.payloadType && $0.matches(chosen) }) else {
                continue
            }
            return chosen
        }
        throw .answerNotOffered(answered: answer.formats.map(\.description), offered: formats.map(\.description))
    }
}

/// The reason that a negotiation failed.
public enum NegotiationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No offered format is supported, or none has the required codec.
    case noCommonFormat(offered: [String], supported: [String], required: Codec?)
    /// The answer has no format of sound that was offered.
    case answerNotOffered(answered: [String], offered: [String])
    /// The audio stream was refused by port 0, or has no format to answer with.
    case noAudio
    /// Only one of offer and answer is encrypted.
    case otherTransport(answered: SessionDescription.Profile, offered: SessionDescription.Profile)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .noCommonFormat(let offered, let supported, let required):
            "no common format: \(Self.list(supported)) here, \(Self.list(offered)) there"
                + (required.map { "; \($0) is required here" } ?? "")
        case .answerNotOffered(let answered, let offered):
            "the answer has \(Self.list(answered)) where \(Self.list(offered)) was offered"
        case .otherTransport(let answered, let offered):
            "the answer has media over \(answered.rawValue) where \(offered.rawValue) was offered; nothing is sent, because it would not be protected as agreed"
        case .noAudio: "the peer accepts no audio (its port is 0)"
        }
    }

    private static func list(_ formats: [String]) -> String {
        formats.isEmpty ? "nothing" : formats.joined(separator: ", ")
    }
}
