// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotMediaTransport

extension CallSimulation {
    /// Negotiates the media of two peers as `earshot host` and `earshot join` do, by an offer and an answer that are sent as
    /// text.
    /// - Parameter adjust: may change the offer and the answer before they are sent.
    package static func negotiate(
        host: CallPreferences, guest: CallPreferences, adjust: (inout SessionDescription) -> Void = { _ in }
    ) throws -> (host: CallConfiguration, guest: CallConfiguration) {
        var sent = try guest.peerOffer(address: .loopback, port: 40_001, sessionID: 1)
        adjust(&sent)
        let offer = try SessionDescription(parsing: sent.description)
        var reply = try host.answer(to: offer, address: .loopback, port: 40_002, sessionID: 2)
        adjust(&reply)
        let answer = try SessionDescription(parsing: reply.description)
        guard let theirs = try guest.agreement(offer: sent, answer: answer),
            let ours = try host.agreement(answer: reply, to: offer)
        else { throw NegotiationError.noAudio }
        return (ours.configuration, theirs.configuration)
    }

    /// Declares in a description, as browsers do, that the decoder uses Opus's own redundancy (RFC 7587 §6.1).
    private static func takeCodecRedundancy(_ description: inout SessionDescription) {
        for index in description.formats.indices { description.formats[index].takeCodecRedundancy() }
    }

    /// Returns the negotiated configuration of each peer for each other peer, by both indices. The peer with the lower index is
    /// the host.
    static func negotiate(_ configuration: Configuration) throws -> [[CallConfiguration?]] {
        let all = configuration.peers.map { configuration.preferences($0) }
        var negotiated = [[CallConfiguration?]](
            repeating: [CallConfiguration?](repeating: nil, count: all.count), count: all.count)
        for host in all.indices {
            for guest in all.indices where guest > host {
                let both = try negotiate(host: all[host], guest: all[guest]) {
                    if configuration.repair == .codec { takeCodecRedundancy(&$0) }
                }
                negotiated[host][guest] = both.host
                negotiated[guest][host] = both.guest
            }
        }
        return negotiated
    }

    static func session(_ configuration: CallConfiguration, _ random: inout SeededRandom) -> RTPSession {
        RTPSession(
            ssrc: UInt32(truncatingIfNeeded: random.next() | 1), cname: "peer", payloadType: configuration.payloadType,
            clockRate: Int(configuration.streamRate),
            firstSequenceNumber: UInt16(truncatingIfNeeded: random.next() & 0x7FFF),  // below 2¹⁵: see SRTPSession
            firstTimestamp: UInt32(truncatingIfNeeded: random.next()))
    }
}
