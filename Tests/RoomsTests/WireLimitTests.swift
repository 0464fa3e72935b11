// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Foundation
import TestSupport
import Testing

@testable import EarshotRooms

/// Tests both sides of the wire format's limits.
@Suite struct WireLimitTests {
    @Test func `a number on the wire has one to sixteen digits and at most 53 bits`() {
        #expect(wireNumber("0") == 0 && wireNumber("0000000000000042") == 42)
        #expect(wireNumber("9007199254740991") == 9_007_199_254_740_991)
        for text in ["", "9007199254740992", "00000000000000042", "+1", "-1", "1 ", "1a", ":", "/", "٣"] {
            #expect(wireNumber(text) == nil, "\(text)")
        }
    }

    @Test func `a member's number and an epoch range from one to one billion`() throws {
        for number: UInt64 in [1, 1_000_000_000] {
            #expect(MemberID(number).map { UInt64($0.number) } == number)
            #expect(Epoch(number).map { UInt64($0.number) } == number)
            #expect(try WireJSON.decoded(Epoch.self, from: Array("\(number)".utf8)) == Epoch(number))
        }
        for number: UInt64 in [0, 1_000_000_001] {
            #expect(MemberID(number) == nil && Epoch(number) == nil)
            #expect(throws: RoomError.self) { try WireJSON.decoded(MemberID.self, from: Array("\(number)".utf8)) }
            #expect(throws: RoomError.self) { try WireJSON.decoded(Epoch.self, from: Array("\(number)".utf8)) }
        }
        #expect(MemberID.first.next == MemberID(2) && Epoch.first.next == Epoch(2) && MemberID.first.number == 1)
        #expect(MemberID.first < MemberID(2)! && Epoch.first < Epoch(2)!)
        #expect(!(MemberID(2)! < MemberID(2)!) && !(Epoch(2)! < Epoch(2)!))
    }

    @Test func `an event ID and an offer ID are two numbers joined by a hyphen`() {
        #expect(EventID("3-17")?.number == 17 && OfferID("3-17")?.from == MemberID(3))
        #expect(EventID("1-0")?.number == 0)
        for text in ["", "3", "3-", "-3", "3-4-5", "3--4", "0-1", "3_4", "x-1", "1-x"] {
            #expect(EventID(text) == nil && OfferID(text) == nil, "\(text)")
        }
    }

    @Test func `a room ID has 16 bytes and 26 characters`() throws {
        #expect(RoomID(bytes: [UInt8](repeating: 1, count: 16)) != nil)
        for count in [15, 17] { #expect(RoomID(bytes: [UInt8](repeating: 1, count: count)) == nil) }
        let bytes = (0..<16).map { UInt8($0 * 16 + 1) }
        let room = try #require(RoomID(bytes: bytes))
        #expect(room.description.count == 26 && RoomID(room.description.lowercased()) == room)
        #expect(RoomID(String(room.description.dropLast())) == nil && RoomID(room.description + "0") == nil)
        // The last character has three bits of the bytes and two of padding.
        let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
        let stem = room.description.dropLast()
        #expect(digits.count { RoomID(stem + String($0)) != nil } == 8)
        #expect(RoomID(stem + "u") == nil && RoomID(stem + "é") == nil)
        var random = SeededRandom(seed: 3)
        #expect(RoomID(using: &random).bytes.count == 16 && RoomID(using: &random) != RoomID(using: &random))
    }

    @Test func `a body of up to 65,536 bytes and a path of up to 256 bytes are accepted`() throws {
        func read(_ path: String, body: Int = 0) throws -> RoomRequest {
            try RoomRequest(
                method: "GET", path: path, parts: HTTPMessage(body: [UInt8](repeating: 32, count: body)))
        }
        #expect(try read("/room", body: 65_536) == .describe)
        #expect(throws: RoomError.tooLarge(limit: 65_536)) { try read("/room", body: 65_537) }
        let path = "/room?" + String(repeating: "x", count: 250)
        #expect(try read(path) == .describe)
        #expect(throws: RoomError.notFound) { try read(path + "x") }
    }

    @Test func `a description of up to 32,768 bytes and a signature of up to 1,024 characters are accepted`() throws {
        func read(_ size: Int, signature: Int) throws -> RoomRequest {
            var fields = ["content-type": "Application/SDP ; x=y", "earshot-offer": "5"]
            fields["earshot-signature"] = String(repeating: "A", count: signature)
            return try RoomRequest(
                method: "POST", path: "/room/members/2/offer",
                parts: HTTPMessage(fields: fields, body: [UInt8](repeating: 65, count: size)))
        }
        guard case .offer(let offer, to: MemberID(2)) = try read(32_768, signature: 1_024) else {
            Issue.record("no offer"); return
        }
        #expect(offer.sdp.utf8.count == 32_768 && offer.signature?.count == 768 && offer.publicKey == nil)
        #expect(throws: RoomError.tooLarge(limit: 32_768)) { try read(32_769, signature: 4) }
        #expect(throws: RoomError.malformed("the field 'earshot-signature' is not base64")) {
            try read(1, signature: 1_028)
        }
    }

    @Test(arguments: ["application/jsonx", "text/json", "", "; application/json", "application/json,"])
    func `a body with the wrong media type is refused`(type: String) {
        #expect(throws: RoomError.wrongMediaType) {
            try RoomRequest(
                method: "PATCH", path: "/room/members/me",
                parts: HTTPMessage(fields: ["content-type": type], body: Array("{}".utf8)))
        }
    }

    @Test(arguments: [
        ("POST", "/room", RoomError.wrongMethod), ("POST", "/room/guests/me", .wrongMethod),
        ("POST", "/room/events", .wrongMethod), ("POST", "/room/members/me", .wrongMethod),
        ("GET", "/room/offers/2-5/answer", .wrongMethod), ("GET", "/room/members/2/session/2-5", .wrongMethod),
        ("DELETE", "/room/members/0/session/2-5", .noSuchMember), ("POST", "/other/members/2/offer", .notFound),
        ("POST", "/room/members/2/offer/x", .notFound), ("POST", "/room/offers/2-5/answer/x", .notFound),
        ("POST", "/room/members/2/answer", .notFound), ("POST", "/room/offers/2-5/offer", .notFound),
        ("POST", "/room/members/2", .notFound), ("GET", "/room/", .notFound), ("GET", "//room", .notFound),
    ])
    func `a similar path or another method is refused`(method: String, path: String, error: RoomError) {
        #expect(throws: error) { try RoomRequest(method: method, path: path, parts: HTTPMessage()) }
    }

    @Test func `any status from 200 to 299 is a success, and any other an error`() throws {
        for status in [200, 204, 299] {
            #expect(try RoomReply(to: .leave, status: status, parts: HTTPMessage()) == .done)
        }
        for status in [199, 300, 404] {
            let reply = try RoomReply(to: .leave, status: status, parts: HTTPMessage())
            #expect(
                reply == .refused(.other(code: "unreadable", status: status, message: "HTTP status \(status)")))
        }
        #expect(throws: RoomError.wrongMediaType) {
            try RoomReply(to: .events(after: nil), status: 200, parts: HTTPMessage())
        }
    }

    @Test func `times and numbers in an error are clamped, and missing ones have a default`() {
        func read(_ code: String, _ more: String = "") -> RoomError {
            RoomError(status: 400, body: Array(#"{"error": "\#(code)", "message": "m"\#(more)}"#.utf8))
        }
        #expect(read("busy") == .busy(retryAfter: 60) && read("too-many-attempts") == .tooManyAttempts(retryAfter: 60))
        #expect(read("busy", #", "retryAfter": -1"#) == .busy(retryAfter: 0))
        #expect(read("busy", #", "retryAfter": 86400"#) == .busy(retryAfter: 86_400))
        #expect(read("busy", #", "retryAfter": 86401"#) == .busy(retryAfter: 86_400))
        #expect(read("wrong-pin", #", "attemptsLeft": -1"#) == .wrongPIN(attemptsLeft: 0))
        #expect(read("wrong-pin") == .wrongPIN(attemptsLeft: 0) && read("full") == .full(limit: 0))
        #expect(read("version") == .version(0) && read("too-large") == .tooLarge(limit: 65_536))
        #expect(read("changed-key") == .other(code: "changed-key", status: 400, message: "m"))
    }

    @Test func `the error for a wrong PIN counts the attempts left`() {
        #expect(RoomError.wrongPIN(attemptsLeft: 1).description.hasSuffix("1 more try"))
        #expect(RoomError.wrongPIN(attemptsLeft: 2).description.hasSuffix("2 more tries"))
        #expect(RoomError.wrongPIN(attemptsLeft: 0).description.hasSuffix("no attempts left"))
    }

    @Test func `the host is notified of refused guests, but not of errors that do not concern it`() {
        for error in WireTests.errors {
            let sentence = error.hostDescription(about: "'Anna' at 10.0.0.1")
            switch error {
            case .malformed, .version, .unanswered, .cancelled, .blocked, .unknownKey, .keyNeeded, .changedKey,
                .wrongPIN, .tooManyAttempts, .full:
                #expect(sentence?.contains("'Anna' at 10.0.0.1") == true, "\(error.code)")
            case .busy, .ownKey: #expect(sentence?.isEmpty == false)
            default: #expect(sentence == nil, "\(error.code)")
            }
        }
    }

    @Test func `a caller's token is the word after Bearer, of at most 128 bytes`() {
        func token(_ field: String?) -> String? {
            var parts = HTTPMessage()
            parts.fields["authorization"] = field
            return RequestOrigin(address: address(1), key: nil, parts: parts).token
        }
        let long = String(repeating: "A", count: 128)
        #expect(token("Bearer \(long)") == long && token("BEARER x") == "x")
        for field in [nil, "", "Bearer", "Basic x", "Bearer x y", "Bearer \(long)A"] {
            #expect(token(field) == nil, "\(field ?? "no field")")
        }
    }

    @Test func `an endpoint requires a native member with a port and an address`() {
        func endpoint(key: KeyFingerprint?, addresses: [IPAddress], port: UInt16) -> Endpoint? {
            Endpoint(Member(id: .first, name: name("A"), key: key, addresses: addresses, port: port))
        }
        let key = TestKey(1).fingerprint
        let whole = endpoint(key: key, addresses: [address(1), address(2)], port: 1)
        #expect(whole?.addresses == [1, 2].map { SocketAddress(address($0), port: 1) })
        #expect(whole?.key.accepts(key) == true && whole?.key.accepts(TestKey(2).fingerprint) == false)
        #expect(endpoint(key: nil, addresses: [address(1)], port: 1) == nil)
        #expect(endpoint(key: key, addresses: [], port: 1) == nil)
        #expect(endpoint(key: key, addresses: [address(1)], port: 0) == nil)
        #expect(Endpoint.ExpectedKey.any.accepts(key))
    }

    @Test func `a member keeps up to 16 distinct, usable addresses without scopes`() {
        let many = (1...20).map { address($0) }
        #expect(Member.bounded(many) == Array(many.prefix(16)))
        #expect(Member.bounded([.any, address(1), address(1), .v6(5, scope: 3)]) == [address(1), .v6(5, scope: 0)])
        let ask = JoinRequestBody(name: name("A"), addresses: many, port: 1)
        #expect(ask.reachableAddresses == Array(many.prefix(16)))
        #expect(MemberUpdate(addresses: many).reachableAddresses == Array(many.prefix(16)))
        #expect(MemberUpdate().reachableAddresses == nil && MemberUpdate(addresses: []).reachableAddresses == [])
        #expect(IPAddress(wire: "fe80::1%1") == nil && IPAddress(wire: "fe80::1") != nil)
    }
}

/// The rosters that a host may create, and the changes between two.
@Suite struct RosterTests {
    private func roster(native: Int, browsers: Int = 0, host: UInt64 = 1) -> Roster {
        let members = (1...native + browsers).map { number in
            Member(
                id: MemberID(UInt64(number))!, name: name("Member \(number)"),
                key: number <= native ? TestKey(number).fingerprint : nil, addresses: [address(number)], port: 1)
        }
        return Roster(
            room: RoomID("00000000000000000000000008")!, name: name("Studio"), epoch: .first, revision: 5,
            host: MemberID(host)!, members: members)
    }

    private func isRead(_ roster: Roster) -> Bool {
        (try? WireJSON.decoded(Roster.self, from: WireJSON.encoded(roster))) == roster
    }

    @Test func `a roster has at most 8 native members and 24 in total, and its host has a key`() {
        #expect(isRead(roster(native: 8, browsers: 16)) && isRead(roster(native: 1)))
        #expect(!isRead(roster(native: 9)) && !isRead(roster(native: 8, browsers: 17)))
        #expect(isRead(roster(native: 2, browsers: 2, host: 2)) && !isRead(roster(native: 2, browsers: 2, host: 3)))
        var swapped = roster(native: 3)
        swapped.members.swapAt(1, 2)
        #expect(!isRead(swapped))
        var twice = roster(native: 3)
        twice.members.insert(twice.members[1], at: 1)
        #expect(!isRead(twice))
    }

    @Test func `each roster change is reported, in member order, and equal rosters report none`() {
        let old = roster(native: 3)
        #expect(old.changes(since: old) == [])
        var new = roster(native: 4)
        new.members.remove(at: 1)
        new.host = MemberID(3)!
        new.members[0].name = name("Other")
        new.members[0].isMuted = true
        new.members[0].isRecording = true
        new.members[0].allowsRecording = true
        new.members[0].isAway = true
        new.members[1].port = 2
        let first = new.members[0]
        #expect(
            new.changes(since: old) == [
                .left(old.members[1]), .renamed(first, was: name("Member 1")), .muted(first, true),
                .recording(first, true), .recordingConsent(first, true), .away(first, true),
                .moved(new.members[1]), .joined(new.members[2]), .host(new.members[1]),
            ])
        var moved = old
        moved.members[2].addresses = []
        #expect(moved.changes(since: old) == [.moved(moved.members[2])])
    }

    @Test func `the end of a recording is reported, and a member without an answer allows no recording`() {
        /// Returns a roster whose second member records and has given this answer.
        func answered(_ answer: Bool?) -> Roster {
            var roster = roster(native: 2)
            roster.members[1].isRecording = true
            roster.members[1].allowsRecording = answer
            return roster
        }
        for answer: Bool? in [nil, false, true] {
            let old = answered(answer)
            #expect(answered(answer).changes(since: old) == [])
            for later in [false, true] where later != answer {
                let new = answered(later)
                #expect(new.changes(since: old) == [.recordingConsent(new.members[1], later)])
            }
            let unanswered = answered(nil)
            let change = RosterChange.recordingConsent(unanswered.members[1], false)
            #expect(unanswered.changes(since: old) == (answer == nil ? [] : [change]))
        }
        let old = answered(true)
        var ended = old
        ended.members[1].isRecording = false
        #expect(ended.changes(since: old) == [.recording(ended.members[1], false)])
    }

    @Test func `a successor is native and not the host, and the later of two members sends the offer`() {
        let roster = roster(native: 3, browsers: 1, host: 2)
        #expect(roster.successors.map(\.id.number) == [1, 3])
        #expect(roster.hostKey == TestKey(2).fingerprint && roster.nativeCount == 3)
        #expect(roster.members.map(\.isNative) == [true, true, true, false])
        let (one, two) = (MemberID(1)!, MemberID(2)!)
        #expect(Roster.offerer(between: one, and: two) == two && Roster.offerer(between: two, and: one) == two)
    }
}
