// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import EarshotMediaTransport

/// Offers by Chromium 156, each in a file of `Tests/Offers/`.
@Suite struct BrowserOfferTests {
    private func recorded(_ name: String) throws -> String {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: tests.appending(path: "Offers/chromium-\(name).sdp"), encoding: .utf8)
    }

    private func answer(_ offer: SessionDescription) throws -> SessionDescription {
        try .answer(
            to: offer, supporting: [.opus()], address: IPAddress("10.0.0.7")!, port: 47_400, packetTime: 10,
            sessionID: 5)
    }

    private func lines(_ description: SessionDescription) -> [String] {
        description.description.split(separator: "\r\n").map(String.init)
    }

    @Test(arguments: ["audio", "data", "video", "video-first"])
    func `each browser offer is parsed, and the retained part survives writing and parsing`(name: String) throws {
        let offer = try SessionDescription(parsing: recorded(name))
        #expect(offer.profile == .dtlsSAVPF && offer.profile.isSecure && offer.multiplexesRTCP)
        #expect(offer.setup == .either && offer.certificateFingerprint != nil)
        #expect(offer.ice?.options == ["trickle"] && offer.ice?.isLite == false)
        #expect(offer.mediaID.map { offer.bundle.contains($0) } == true)
        #expect(offer.formats.first { $0.codec == .opus }?.payloadType == 111)
        #expect(offer.formats.first { $0.codec == .opus }?.parameter("useinbandfec") == "1")
        #expect(try SessionDescription(parsing: offer.description) == offer)
    }

    @Test func `only UDP host candidates are read, and none if another section has them`() throws {
        let offer = try SessionDescription(parsing: recorded("audio"))
        #expect(
            offer.ice?.candidates.map(\.address.description) == ["192.0.2.2:34849", "[fd00::2]:56960"],
            "and none of TCP")
        // Bundled media have their candidates in the first section: a lite agent waits for checks and needs none.
        #expect(try SessionDescription(parsing: recorded("video-first")).ice?.candidates == [])
    }

    @Test func `the answer to an audio offer uses its names and payload type, and no unknown attributes`() throws {
        let offer = try SessionDescription(parsing: recorded("audio"))
        var answer = try answer(offer)
        answer.ice = .init(
            credentials: ICECredentials(usernameFragment: "8hhY", password: "asd88fgpdd777uzjYhagZg")!,
            candidates: ICECandidate.hosts([IPAddress("10.0.0.7")!], port: 47_400), isLite: true)
        answer.setup = offer.setup?.answer()
        #expect(
            lines(answer) == [
                "v=0", "o=- 5 1 IN IP4 10.0.0.7", "s=Earshot", "c=IN IP4 10.0.0.7", "t=0 0", "a=group:BUNDLE 0",
                "a=ice-lite", "m=audio 47400 UDP/TLS/RTP/SAVPF 111", "a=mid:0", "a=rtpmap:111 opus/48000/2",
                "a=fmtp:111 sprop-stereo=0; stereo=0; minptime=10; useinbandfec=1", "a=ptime:10", "a=rtcp-mux",
                "a=sendrecv", "a=ice-ufrag:8hhY", "a=ice-pwd:asd88fgpdd777uzjYhagZg",
                "a=candidate:1 1 UDP 2130706431 10.0.0.7 47400 typ host", "a=end-of-candidates", "a=setup:active",
            ])
        #expect(try SessionDescription(parsing: answer.description) == answer)
        #expect(try offer.format(chosenBy: answer).payloadType == 111)
    }

    @Test func `a data channel and video are rejected in place and left out of the bundle`() throws {
        let data = try answer(SessionDescription(parsing: recorded("data")))
        #expect(data.bundle == ["0"] && data.mediaBefore.isEmpty)
        #expect(lines(data).suffix(2) == ["m=application 0 UDP/DTLS/SCTP webrtc-datachannel", "a=mid:1"])

        let video = try answer(SessionDescription(parsing: recorded("video")))
        #expect(
            video.mediaBehind.map(\.kind) == ["video", "application"] && video.mediaBehind.allSatisfy { $0.port == 0 })
        #expect(!lines(video).contains { $0.contains("VP8") || $0.hasPrefix("a=rtcp-fb") || $0.hasPrefix("a=extmap") })

        let second = try answer(SessionDescription(parsing: recorded("video-first")))
        #expect(second.mediaBefore.map(\.kind) == ["video"] && second.mediaBehind.map(\.kind) == ["application"])
        #expect(second.bundle == ["1"] && second.mediaID == "1")
        let sections = lines(second).filter { $0.hasPrefix("m=") || $0.hasPrefix("a=mid") }
        #expect(sections.map { $0.prefix(7) } == ["m=video", "a=mid:0", "m=audio", "a=mid:1", "m=appli", "a=mid:2"])
        #expect(try SessionDescription(parsing: second.description) == second)
    }

    @Test(arguments: [
        ("actpass", DTLSSetup.active, DTLSRole.client), ("active", .passive, .server), ("passive", .active, .client),
    ])
    func `the DTLS setup in the offer determines the answer's setup`(offered: String, ours: DTLSSetup, role: DTLSRole)
        throws
    {
        let text = try recorded("audio").replacingOccurrences(of: "a=setup:actpass", with: "a=setup:\(offered)")
        let offer = try SessionDescription(parsing: text)
        let setup = try #require(offer.setup)
        #expect(setup.answer() == ours && DTLSRole(ofOffererOf: setup, answeredBy: ours) == role.opposite)
        if offered == "actpass" { #expect(setup.answer(preferring: .server) == .passive) }
    }

    @Test func `a session-level fingerprint and older transport profiles are accepted`() throws {
        var text = try recorded("audio")
        let fingerprint = try #require(text.split(separator: "\r\n").first { $0.hasPrefix("a=fingerprint") })
        text = text.replacingOccurrences(of: "\(fingerprint)\r\n", with: "")
            .replacingOccurrences(of: "t=0 0\r\n", with: "t=0 0\r\n\(fingerprint)\r\n")
        #expect(try SessionDescription(parsing: text).certificateFingerprint != nil, "the session's")
        for (name, profile) in [("RTP/SAVPF", SessionDescription.Profile.savpf), ("UDP/TLS/RTP/SAVP", .dtlsSAVP)] {
            let offer = try SessionDescription(
                parsing: text.replacingOccurrences(of: "UDP/TLS/RTP/SAVPF", with: name))
            #expect(offer.profile == profile && profile.isSecure)
            #expect(try answer(offer).profile == profile)
        }
    }

    @Test func `a secure offer rejects a plain answer, and a plain offer rejects a secure answer`() throws {
        let offer = try SessionDescription(parsing: recorded("audio"))
        var answer = try answer(offer)
        answer.profile = .dtlsSAVP
        #expect(throws: Never.self) { try offer.format(chosenBy: answer) }
        answer.profile = .avp
        #expect(throws: NegotiationError.otherTransport(answered: .avp, offered: .dtlsSAVPF)) {
            try offer.format(chosenBy: answer)
        }
        var plain = offer
        plain.profile = .avp
        answer.profile = .dtlsSAVPF
        #expect(throws: NegotiationError.self) { try plain.format(chosenBy: answer) }
    }

    @Test func `an offer with a secure profile is written and parsed`() throws {
        let offer = SessionDescription.offer(
            formats: [.opus()], address: .loopback, port: 9, sessionID: 1, profile: .dtlsSAVPF)
        #expect(lines(offer).contains("m=audio 9 UDP/TLS/RTP/SAVPF 97"))
        #expect(try SessionDescription(parsing: offer.description) == offer)
    }
}
