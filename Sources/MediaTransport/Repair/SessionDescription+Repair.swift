// SPDX-License-Identifier: Apache-2.0

extension SessionDescription {
    /// The names of the supported extended reports: runs of losses (RFC 3611) and the jitter buffer (RFC 7005).
    package static let readableReports = ["pkt-loss-rle", "de-jitter-buffer"]

    /// Returns the repair that both descriptions have for a format.
    /// - Parameters:
    ///   - format: the payload type of the stream.
    ///   - mine: the local description.
    ///   - theirs: the remote description.
    package static func repair(of format: UInt8, mine: SessionDescription, theirs: SessionDescription) -> RTPRepair {
        func commonPayloadType(of kind: MediaFormat.Repair) -> UInt8? {
            let ours = mine.repair(kind, of: format)
            return ours == theirs.repair(kind, of: format) ? ours : nil
        }
        func takesNACK(_ description: SessionDescription) -> Bool {
            description.formats.contains { $0.payloadType == format && $0.takesNACK }
        }
        var repair = RTPRepair()
        guard theirs.profile.hasFeedback else { return repair }
        repair.redundant = commonPayloadType(of: .redundant)
        repair.repeated = commonPayloadType(of: .repeated)
        repair.takesNACK = takesNACK(mine) && takesNACK(theirs)
        repair.takesReports = mine.readsLosses && theirs.readsLosses
        (repair.takesRateRequests, repair.reserve) = rate(of: format, mine: mine, theirs: theirs)
        return repair
    }

    private var readsLosses: Bool { extendedReports.contains { $0.split(separator: "=").first == "pkt-loss-rle" } }

    private func repair(_ kind: MediaFormat.Repair, of type: UInt8) -> UInt8? {
        guard let format = formats.first(where: { $0.payloadType == type }) else { return nil }
        return formats.first { $0.repair == kind && $0.repairs(format) }?.payloadType
    }

    /// Adds repair of losses to an offer, for Opus and PCM; AAC's frames are too long for repair. A peer that does not support
    /// repair may support Opus's own redundancy.
    package mutating func offerRepair() {
        var freeTypes = (99...127).filter { type in !formats.contains { $0.payloadType == type } }.map { UInt8($0) }
        for index in formats.indices where formats[index].isRepairable {
            guard freeTypes.count >= 2 else { break }
            formats.append(formats[index].redundant(payloadType: freeTypes.removeFirst()))
            formats.append(formats[index].repeated(payloadType: freeTypes.removeFirst()))
            formats[index].takesNACK = true
            formats[index].takeCodecRedundancy()
        }
        extendedReports = Self.readableReports
    }

    /// Adds to an answer the repair of losses that the offer has for the chosen format.
    package mutating func answerRepair(to offer: SessionDescription) {
        guard offer.profile.hasFeedback, let chosen = formats.first, chosen.isRepairable,
            let offered = offer.formats.first(where: { $0.payloadType == chosen.payloadType })
        else { return }
        formats[0].takesNACK = offered.takesNACK
        for format in offer.formats where format.repairs(offered) { formats.append(format) }
        extendedReports = Self.readableReports.filter { name in
            offer.extendedReports.contains { $0.split(separator: "=").first.map(String.init) == name }
        }
    }
}

extension MediaFormat {
    fileprivate var isRepairable: Bool { codec?.traits.isRepairable ?? false }
}

extension SessionDescription.Profile {
    /// Returns true if the profile has immediate feedback (RFC 4585); plain RTP is left unchanged for programs without feedback.
    var hasFeedback: Bool { self == .dtlsSAVPF || self == .savpf }
}
