// SPDX-License-Identifier: Apache-2.0

extension SessionDescription {
    /// An offer of a stream both ways (RFC 3264 §5).
    /// - Parameters:
    ///   - formats: what we can send and receive, in order of preference; at least one.
    ///   - address: where we receive.
    ///   - port: the port we receive on.
    ///   - packetTime: milliseconds of audio we like to get in a packet; fractions are allowed.
    ///   - sessionID: random.
    ///   - profile: plain RTP unless said otherwise.
    public static func offer(
        formats: [MediaFormat], address: IPAddress, port: UInt16, packetTime: Double? = nil, sessionID: UInt64,
        profile: Profile = .avp
    ) -> SessionDescription {
        precondition(!formats.isEmpty, "an offer needs a format")
        return SessionDescription(
            formats: formats, address: address, port: port, packetTime: packetTime, sessionID: sessionID,
            profile: profile)
    }

    /// The answer to an offer (RFC 3264 §6): the first offered format both sides can do, with the offer's payload type
    /// and our parameters; over the offer's transport, with its media's names. All else that is offered is refused.
    /// - Parameters:
    ///   - formats: what we can send and receive; formats match by encoding, rate and channels.
    ///   - codec: the only codec to take; nil for any.
    ///   - packetTime: milliseconds of audio we like to get in a packet; nil for what the offer likes.
    ///   - sessionID: random.
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

    /// The answer to an offer by which nothing flows: its first format is as good as any.
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

    /// The format an answer to this offer has chosen, with the answerer's parameters.
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
    /// The offered formats are none of ours, or none is of the required codec.
    case noCommonFormat(offered: [String], supported: [String], required: Codec?)
    /// An answer with a format that was not offered.
    case answerNotOffered(answered: [String], offered: [String])
    /// The stream is refused: its port is 0.
    case noAudio
    /// An answer in clear to an offer that was not, or the other way round.
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
            "the answer has media over \(answered.rawValue) where \(offered.rawValue) was offered; nothing is sent, since it would not be protected as agreed"
        case .noAudio: "the peer takes no audio (its port is 0)"
        }
    }

    private static func list(_ formats: [String]) -> String {
        formats.isEmpty ? "nothing" : formats.joined(separator: ", ")
    }
}
