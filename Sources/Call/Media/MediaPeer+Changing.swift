// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// A payload type and the codec of its packets.
struct PayloadFormat: Hashable, Sendable {
    let payloadType: UInt8
    let codec: Codec
}

/// Changes the format while the sound continues: the sender changes at a packet boundary, and the receiver decodes both formats
/// until the remote peer has changed.
extension MediaPeer {
    /// Continues the sound of the same remote peer's previous format, in both directions.
    func change(from past: Past) {
        let before = past.media
        var session = past.session
        session.change(
            payloadType: configuration.payloadType, repair: configuration.repair,
            shift: before.configuration.codecShift - configuration.codecShift)
        session.otherTypes.redundant = before.configuration.repair.redundant ?? session.otherTypes.redundant
        if session.otherTypes.redundant == configuration.repair.reserve { session.otherTypes.redundant = nil }
        session.sendTimeID = configuration.sendTimeID
        sender.session = session
        followClock(of: before)
        counts = past.counts
        counts.peerLeft = false
        (repeatedBefore, answeredBefore) = (counts.repeatedPackets, counts.retransmittedPackets)
        rate.policy.follow(past.rate)
        rate.requestsSent = past.requestsSent
        log = before.log
        if before.configuration.codec == configuration.codec {
            firstNegotiatedNumber = before.continues ? before.firstNegotiatedNumber : 0
        }
        second = before.second
        if let stream, let encoder = rate.encoder, let old = before.rate.encoder {
            // A new encoder begins with a longer packet, which may cost a gap.
            if before.configuration.encodesLike(configuration) {
                rate.encoder = old
            } else {
                encoder.continueSound(from: old, of: stream)
            }
        }
        receive(before.otherFormats + before.negotiatedFormats)
    }

    /// Accepts packets of more formats, if the playout decodes them. The negotiated types have priority.
    func receive(_ formats: [PayloadFormat]) {
        let own =
            negotiatedFormats.map(\.payloadType) + [configuration.repair.redundant, configuration.repair.repeated]
        for format in formats where !own.contains(format.payloadType) && !otherFormats.contains(format) {
            guard format.codec == configuration.codec || format.codec == configuration.alternativeCodec else {
                continue
            }
            otherFormats.removeAll { $0.payloadType == format.payloadType }
            otherFormats.append(format)
        }
        otherFormats.removeAll { own.contains($0.payloadType) }
        sender.session.otherTypes.plain = otherFormats.map(\.payloadType)
    }

    /// The negotiated formats of plain packets.
    private var negotiatedFormats: [PayloadFormat] {
        let main = PayloadFormat(payloadType: configuration.payloadType, codec: configuration.codec)
        guard let type = configuration.repair.reserve, let fallback = configuration.codec.traits.fallback else {
            return [main]
        }
        return [main, PayloadFormat(payloadType: type, codec: fallback)]
    }

    /// Returns true if a datagram is sound in a format that these media receive and the previous ones do not.
    func begins(with datagram: UnsafeRawBufferPointer, after previous: MediaPeer) -> Bool {
        guard datagram.count > 1, !(192...223).contains(datagram[1]) else { return false }
        let type = datagram[1] & 0x7F
        return sender.session.accepts(type) && !previous.sender.session.accepts(type)
    }

    /// Returns the codec of a packet of this type; the negotiated codec if the type is unknown.
    func codec(ofType type: UInt8) -> Codec {
        if type == configuration.payloadType { return configuration.codec }
        if type == configuration.repair.reserve { return configuration.codec.traits.fallback ?? configuration.codec }
        for format in otherFormats where format.payloadType == type { return format.codec }
        return configuration.codec
    }

    /// Returns true if redundant blocks may have this type.
    func knows(type: UInt8) -> Bool {
        type == configuration.payloadType || otherFormats.contains { $0.payloadType == type }
    }
}
