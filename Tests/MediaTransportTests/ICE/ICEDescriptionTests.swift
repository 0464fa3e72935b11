// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import EarshotMediaTransport

/// Tests ICE in session descriptions.
@Suite struct ICEDescriptionTests {
    private let credentials = ICECredentials(usernameFragment: "8hhY", password: "asd88fgpdd777uzjYhagZg")!

    // MARK: Credentials

    @Test func `random credentials have the right length and are unique`() {
        var random = SeededRandom(seed: 1)
        let drawn = (0..<1_000).map { _ in ICECredentials.random(using: &random) }
        for one in drawn {
            #expect(one.usernameFragment.utf8.count == 8 && one.password.utf8.count == 24)
            #expect(ICECredentials(usernameFragment: one.usernameFragment, password: one.password) == one)
        }
        #expect(Set(drawn).count == 1_000)
        #expect(Set(drawn.flatMap { Array($0.password) }).count == 64)
        var again = SeededRandom(seed: 1)
        #expect(ICECredentials.random(using: &again) == drawn[0])
    }

    @Test func `credentials of the wrong length or alphabet are rejected`() {
        let (fragment, password) = ("abcd", String(repeating: "p", count: 22))
        #expect(ICECredentials(usernameFragment: fragment, password: password) != nil)
        for wrong in ["abc", String(repeating: "a", count: 257), "ab:d", "ab d", "abcé", "a=cd"] {
            #expect(ICECredentials(usernameFragment: wrong, password: password) == nil)
        }
        for wrong in [String(password.dropLast()), String(repeating: "p", count: 257), password + "\""] {
            #expect(ICECredentials(usernameFragment: fragment, password: wrong) == nil)
        }
    }

    @Test func `a password never appears in a textual description`() {
        var dumped = ""
        dump([credentials], to: &dumped)
        for text in ["\(credentials)", "\([credentials])", String(reflecting: credentials), dumped] {
            #expect(text.contains("8hhY") && !text.contains(credentials.password))
        }
    }

    // MARK: Candidates

    @Test func `candidate priorities follow RFC 8445`() {
        #expect(ICECandidate.priority(.host, rank: 0) == 2_130_706_431)
        #expect(ICECandidate.priority(.host, rank: 1) == 2_130_706_431 - 256)
        #expect(ICECandidate.priority(.peerReflexive, rank: 0) == 110 << 24 | 65_535 << 8 | 255)
        #expect(ICECandidate.priority(.host, rank: 100_000) == 126 << 24 | 255)
    }

    @Test(arguments: ["10.0.1.1", "192.0.2.3", "2001:db8::7", "fe80::6676:baff:fe9c:ee4a"])
    func `a host candidate survives writing and parsing`(address: String) throws {
        let candidate = try #require(
            ICECandidate(foundation: "1+/a", priority: 77, address: SocketAddress(IPAddress(address)!, port: 8_998)))
        #expect(candidate.description == "1+/a 1 UDP 77 \(address) 8998 typ host")
        #expect(ICECandidate(parsing: candidate.description) == candidate)
    }

    @Test func `candidates in the syntax of browsers are parsed`() throws {
        let chromium = "842163049 1 udp 1677729535 192.168.1.4 46154 typ host generation 0 ufrag 8hhY network-id 1"
        let candidate = try #require(ICECandidate(parsing: chromium))
        #expect(candidate.foundation == "842163049" && candidate.priority == 1_677_729_535)
        #expect(candidate.address == SocketAddress(IPAddress("192.168.1.4")!, port: 46_154))
    }

    @Test(arguments: [
        "1 1 tcp 1518280447 192.168.1.4 9 typ host tcptype active",
        "1 1 udp 2113937151 6a1f7c29-1a2b-4c3d-9e4f-112233445566.local 46154 typ host generation 0",
        "1 1 udp 1677729535 203.0.113.7 46154 typ srflx raddr 10.0.0.1 rport 46154",
        "1 1 udp 41885439 203.0.113.8 50000 typ relay raddr 203.0.113.7 rport 46154",
        "1 2 udp 2113937150 192.168.1.4 46155 typ host", "1 1 udp 0 192.168.1.4 1 typ host",
        "1 1 udp 2147483648 192.168.1.4 1 typ host", "1 1 udp 5 192.168.1.4 0 typ host",
        "1 1 udp 5 0.0.0.0 5 typ host", "1 1 udp 5 224.0.0.251 5 typ host", "1 1 udp 5 ff02::fb 5 typ host",
        "1 1 udp 5 fe80::1%eth0 5 typ host", "1 1 udp 5 192.168.1.4 70000 typ host",
        "1 1 udp 5 192.168.1.4 5 typ", "1 1 udp 5 192.168.1.4 5 host typ",
        "1 1 udp 5 192.168.1.4 5 typ host generation",
        "bad=foundation 1 udp 5 192.168.1.4 5 typ host",
        "123456789012345678901234567890123 1 udp 5 10.0.0.1 5 typ host",
        "x", "",
    ])
    func `an unusable candidate is skipped, and kept in the description`(text: String) throws {
        #expect(ICECandidate(parsing: text) == nil)
        let sdp =
            "v=0\nc=IN IP4 1.2.3.4\nm=audio 9 RTP/AVP 10\na=ice-ufrag:8hhY\na=ice-pwd:asd88fgpdd777uzjYhagZg\n"
            + "a=candidate:\(text)\n"
        let description = try SessionDescription(parsing: sdp)
        #expect(description.ice?.candidates == [] && description.otherMediaAttributes == ["candidate:\(text)"])
        #expect(try SessionDescription(parsing: description.description) == description)
    }

    @Test func `a host candidate is made of each usable address`() {
        let addresses = ["10.0.0.1", "0.0.0.0", "fe80::1%3", "224.0.0.1"].map { IPAddress($0)! }
        let candidates = ICECandidate.hosts(addresses, port: 47_400)
        #expect(
            candidates.map(\.description) == [
                "1 1 UDP 2130706431 10.0.0.1 47400 typ host", "3 1 UDP 2130705919 fe80::1 47400 typ host",
            ])
        #expect(ICECandidate.hosts(addresses, port: 0).isEmpty)
    }

    // MARK: Descriptions

    @Test func `the ICE attributes of a description survive writing and parsing`() throws {
        var offer = SessionDescription.offer(formats: [.opus()], address: .loopback, port: 9, sessionID: 1)
        offer.ice = SessionDescription.ICE(
            credentials: credentials,
            candidates: ICECandidate.hosts([IPAddress("10.0.0.1")!, IPAddress("2001:db8::1")!], port: 47_400),
            isLite: true, options: ["ice2", "trickle"])
        let text = offer.description
        for line in [
            "a=ice-lite", "a=ice-options:ice2 trickle", "a=ice-ufrag:8hhY", "a=ice-pwd:asd88fgpdd777uzjYhagZg",
            "a=candidate:1 1 UDP 2130706431 10.0.0.1 47400 typ host",
            "a=candidate:2 1 UDP 2130706175 2001:db8::1 47400 typ host", "a=end-of-candidates",
        ] { #expect(text.contains(line + "\r\n")) }
        #expect(text.firstRange(of: "a=ice-lite")!.lowerBound < text.firstRange(of: "m=audio")!.lowerBound)
        #expect(try SessionDescription(parsing: text) == offer)
        offer.ice?.hasAllCandidates = false
        #expect(try SessionDescription(parsing: offer.description) == offer)
        offer.ice = nil
        #expect(!offer.description.contains("ice-"))
    }

    @Test func `media-level credentials take precedence over session-level ones`() throws {
        func ice(session: String, media: String) throws -> SessionDescription.ICE? {
            try SessionDescription(
                parsing: "v=0\n\(session)c=IN IP4 1.2.3.4\nm=audio 9 RTP/AVP 10\n\(media)"
            ).ice
        }
        let (fragment, password) = ("a=ice-ufrag:8hhY\n", "a=ice-pwd:asd88fgpdd777uzjYhagZg\n")
        #expect(try ice(session: "", media: fragment + password)?.credentials == credentials)
        #expect(try ice(session: fragment + password, media: "")?.credentials == credentials)
        #expect(try ice(session: fragment, media: password)?.credentials == credentials)
        #expect(try ice(session: "a=ice-ufrag:else\n" + password, media: fragment)?.credentials == credentials)
        #expect(try ice(session: "a=ice-lite\n", media: "a=end-of-candidates\n") == nil)
    }

    @Test(arguments: [
        ("a=ice-ufrag:8hhY", SDPError.Reason.missing("a=ice-pwd")),
        ("a=ice-pwd:asd88fgpdd777uzjYhagZg", .missing("a=ice-ufrag")),
        (
            "a=ice-ufrag:8hh\na=ice-pwd:asd88fgpdd777uzjYhagZg",
            .badValue("ICE's credentials: letters, digits, '+' and '/', 4 and 22 of them or more")
        ),
    ])
    func `incomplete or invalid credentials are an error`(lines: String, reason: SDPError.Reason) {
        let error = #expect(throws: SDPError.self) {
            try SessionDescription(parsing: "v=0\nc=IN IP4 1.2.3.4\nm=audio 9 RTP/AVP 10\n\(lines)\n")
        }
        #expect(error?.reason == reason)
    }
}
