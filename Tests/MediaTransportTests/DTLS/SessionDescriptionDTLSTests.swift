// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotMediaTransport

@Suite struct SessionDescriptionDTLSTests {
    private let digits = (0..<32).map { _ in "AB" }.joined(separator: ":")
    private let others = (0..<32).map { _ in "CD" }.joined(separator: ":")

    private func description(session: [String] = [], media: [String] = []) throws -> SessionDescription {
        let lines = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0"]
        let all = lines + session.map { "a=\($0)" } + ["m=audio 9 RTP/AVP 10"] + media.map { "a=\($0)" }
        return try SessionDescription(parsing: all.joined(separator: "\r\n") + "\r\n")
    }

    @Test func `setup and fingerprint can be written, parsed again and removed`() throws {
        var offer = SessionDescription.offer(formats: [.opus()], address: .loopback, port: 9, sessionID: 1)
        #expect(offer.setup == nil && offer.certificateFingerprint == nil)
        let fingerprint = try #require(CertificateFingerprint(attribute: "sha-256 \(digits)"))
        offer.setup = .either
        offer.certificateFingerprint = fingerprint
        #expect(offer.description.contains("a=setup:actpass\r\n"))
        #expect(offer.description.contains("a=fingerprint:sha-256 \(digits)\r\n"))
        let read = try SessionDescription(parsing: offer.description)
        #expect(read.setup == .either && read.certificateFingerprint == fingerprint && read == offer)
        offer.setup = .passive
        #expect(offer.otherMediaAttributes.filter { $0.hasPrefix("setup:") } == ["setup:passive"])
        offer.setup = nil
        offer.certificateFingerprint = nil
        #expect(!offer.description.contains("setup") && !offer.description.contains("fingerprint"))
    }

    @Test func `media-level attributes take precedence over session-level ones`() throws {
        let both = try description(
            session: ["setup:active", "fingerprint:sha-256 \(others)"],
            media: ["setup:passive", "fingerprint:sha-256 \(digits)"])
        #expect(both.setup == .passive)
        #expect(both.certificateFingerprint == CertificateFingerprint(attribute: "sha-256 \(digits)"))
        let session = try description(session: ["setup:holdconn", "fingerprint:SHA-256 \(others.lowercased())"])
        #expect(session.setup == .holdConnection)
        #expect(session.certificateFingerprint == CertificateFingerprint(attribute: "sha-256 \(others)"))
        var changed = both
        changed.setup = .active
        #expect(!changed.description.contains("passive") && changed.setup == .active)
    }

    @Test func `other hash functions are ignored, and two different fingerprints are treated as missing`() throws {
        let mixed = try description(media: ["fingerprint:sha-1 AB:CD", "fingerprint:sha-256 \(digits)"])
        #expect(mixed.certificateFingerprint == CertificateFingerprint(attribute: "sha-256 \(digits)"))
        let twice = try description(media: ["fingerprint:sha-256 \(digits)", "fingerprint:sha-256 \(digits)"])
        #expect(twice.certificateFingerprint != nil)
        let two = try description(media: ["fingerprint:sha-256 \(digits)", "fingerprint:sha-256 \(others)"])
        #expect(two.certificateFingerprint == nil)
        #expect(try description(media: ["fingerprint:sha-256 AB:CD", "setup:both"]).certificateFingerprint == nil)
        #expect(try description(media: ["setup:both"]).setup == nil)
        #expect(try description(media: ["setup", "fingerprint"]).setup == nil)
    }

    @Test func `DTLS roles follow from the setup values of offer and answer`() throws {
        #expect(DTLSSetup.either.answer() == .active && DTLSSetup.either.answer(preferring: .server) == .passive)
        #expect(DTLSSetup.active.answer() == .passive && DTLSSetup.passive.answer() == .active)
        #expect(DTLSSetup.holdConnection.answer() == nil)
        for offer in [DTLSSetup.either, .active, .passive] {
            let answer = try #require(offer.answer())
            let offerer = DTLSRole(ofOffererOf: offer, answeredBy: answer)
            #expect(offerer == (answer == .active ? .server : .client))
        }
        #expect(DTLSRole(ofOffererOf: .either, answeredBy: .either) == nil)
        #expect(DTLSRole(ofOffererOf: .active, answeredBy: .active) == nil)
        #expect(DTLSRole(ofOffererOf: .passive, answeredBy: .passive) == nil)
        #expect(DTLSRole.client.opposite == .server && DTLSRole.server.opposite == .client)
    }
}
