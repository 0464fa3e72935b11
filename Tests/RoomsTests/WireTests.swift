// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Foundation
import TestSupport
import Testing

@testable import EarshotRooms

@Suite struct WireTests {
    private func roster() -> Roster {
        var host = TestHost()
        host.admit(1)
        host.admit(2, name: "Zoë")
        return host.host.roster
    }

    /// Converts a message to HTTP and back.
    private func sent(_ request: RoomRequest) throws -> RoomRequest {
        try RoomRequest(method: request.method, path: request.path, parts: request.parts)
    }

    private func sent(_ reply: RoomReply, to request: RoomRequest) throws -> RoomReply {
        try RoomReply(to: request, status: reply.status, parts: reply.parts)
    }

    private var offer: SignedDescription {
        SignedDescription(
            offer: OfferID(from: MemberID(3)!, number: 99), sdp: "v=0\r\ns=é\r\n", signature: [1, 2, 3], publicKey: [4])
    }

    @Test func `each request is decoded as it was encoded`() throws {
        var ask = request(1)
        ask.purpose = try Purpose("to sing")
        ask.pinProof = Base64([1, 2, 3])
        var recorder = request(2)
        (recorder.recording, recorder.allowsRecording) = (true, false)
        let plain: [RoomRequest] = [
            .describe, .ask(ask), .ask(recorder), .leave, .events(after: nil), .events(after: EventID("3-17")),
            .update(MemberUpdate()),
            .update(MemberUpdate(name: name("Zoë"), isMuted: true, addresses: [address(4), .loopbackV6])),
            .update(MemberUpdate(isRecording: true, allowsRecording: false)),
            .update(MemberUpdate(isRecording: false, allowsRecording: true)),
            .answer(offer), .end(offer.offer, with: MemberID(2)!),
        ]
        for request in plain { #expect(try sent(request) == request) }
        // The path of an offer names the receiver; the connection identifies the sender.
        guard case .offer(let arrived, to: MemberID(2)) = try sent(.offer(offer, to: MemberID(2)!)) else {
            Issue.record("no offer")
            return
        }
        #expect(arrived.sdp == offer.sdp && arrived.signature == offer.signature && arrived.offer.number == 99)
    }

    @Test func `each reply is decoded as it was encoded`() throws {
        let roster = roster()
        var host = TestHost(pin: "4711")
        let reply = host.ask(.describe, caller(1))
        let info = try #require(reply)
        #expect(info.info != nil)
        #expect(try sent(info, to: .describe) == info)
        let admitted = RoomReply.admitted(
            Admission(member: MemberID(2)!, token: "ABC", hostProof: Base64([9]), roster: roster))
        #expect(try sent(admitted, to: .ask(request(1))) == admitted)
        let status = RoomReply.status(MemberStatus(epoch: .first, revision: 7))
        #expect(try sent(status, to: .update(MemberUpdate())) == status)
        #expect(try sent(.events, to: .events(after: nil)) == .events)
        #expect(try sent(.done, to: .leave) == .done)
        let answered = RoomReply.answered(offer, by: MemberID(2)!)
        #expect(answered.parts.fields["location"] == "/room/members/2/session/3-99")
        #expect(try sent(answered, to: .offer(offer, to: MemberID(2)!)) == answered)
    }

    static let errors: [RoomError] = [
        .malformed("no 'name'"), .version(1), .tooLarge(limit: 5), .wrongMediaType, .notFound, .wrongMethod, .declined,
        .unanswered, .cancelled, .replaced, .blocked, .unknownKey, .keyNeeded,
        .changedKey(name: name("Anna"), was: TestKey(1).fingerprint), .ownKey, .pinNeeded, .wrongPIN(attemptsLeft: 3),
        .wrongPIN(attemptsLeft: 1), .wrongPIN(attemptsLeft: 0),
        .tooManyAttempts(retryAfter: 500), .busy(retryAfter: 30), .full(limit: 8), .closed, .notHost, .notMember,
        .removed, .noSuchMember, .memberAway, .noSuchOffer, .offerUnanswered,
        .other(code: "novel", status: 418, message: "a teapot"),
    ]

    @Test(arguments: errors)
    func `each error is decoded as it was encoded, and has a message for the guest`(error: RoomError) throws {
        let reply = RoomReply.refused(error)
        #expect(reply.status == error.status && (400...599).contains(error.status))
        if case .other(let code, let status, _) = error {
            guard case .refused(.other(code, status, _)) = try sent(reply, to: .leave) else {
                Issue.record("another error")
                return
            }
        } else {
            #expect(try sent(reply, to: .leave) == reply)
        }
        #expect(error.description.count > 10 && !error.description.contains("\n"))
        #expect(reply.parts.fields["retry-after"] == error.retryAfter.map { "\($0)" })
        #expect(error.hostDescription(about: "'Anna' at 10.0.0.1") != "")
    }

    @Test func `an error's text is cut at its limit`() {
        let long = String(repeating: "a", count: 1_000)
        func read(_ code: String) -> RoomError {
            RoomError(status: 400, body: Array(#"{"error": "\#(code)", "message": "\#(long)"}"#.utf8))
        }
        #expect(read("malformed") == .malformed(String(long.prefix(200))))
        #expect(
            read(long)
                == .other(code: String(long.prefix(40)), status: 400, message: String(long.prefix(400))))
    }

    @Test func `a changed key is reported with a prominent warning`() {
        let error = RoomError.changedKey(name: name("Anna"), was: TestKey(1).fingerprint)
        #expect(error.description.contains("\(TestKey(1).fingerprint)"))
        #expect(error.hostDescription(about: "'Anna' at 10.0.0.1")?.contains("DIFFERENT KEY") == true)
    }

    @Test func `each event is decoded as it was encoded, and an unknown one is ignored`() throws {
        let events: [RoomEvent] = [
            .roster(roster()), .offer(offer), .ended(offer.offer), .removed(isBlocked: true),
            .removed(isBlocked: false),
            .replaced, .closing(next: nil), .closing(next: MemberID(4)!),
        ]
        for event in events {
            #expect(!event.data.contains("\n"))
            #expect(try RoomEvent(ServerSentEvent(name: event.name, data: event.data)) == event)
        }
        #expect(try RoomEvent(ServerSentEvent(name: "speaking", data: "x")) == nil)
        #expect(throws: RoomError.malformed("it is not JSON")) {
            try RoomEvent(ServerSentEvent(name: "roster", data: ""))
        }
    }

    @Test func `unknown fields are ignored, and an unknown version has its own error`() throws {
        let parts = { (text: String) in
            HTTPMessage(fields: ["content-type": "application/json; charset=utf-8"], body: Array(text.utf8))
        }
        func read(_ text: String) throws -> RoomRequest {
            try RoomRequest(method: "POST", path: "/room/guests?x=y", parts: parts(text))
        }
        let request = try read(
            "{\"version\":1,\"name\":\"A\",\"addresses\":[\"fe80::1%eth0\",\"x\",\"10.0.0.1\"],\"port\":1,\"new\":[{}]}"
        )
        guard case .ask(let ask) = request else { Issue.record("\(request)"); return }
        #expect(ask.name == name("A") && ask.reachableAddresses == [address(1)])
        #expect(throws: RoomError.version(2)) { try read("{\"version\":2}") }
        #expect(throws: RoomError.malformed("it has no 'version'")) { try read("{\"name\":\"A\"}") }
        #expect(throws: RoomError.malformed("it has no 'name'")) { try read("{\"version\":1}") }
        #expect(throws: RoomError.malformed("'name' is of another type than it should be")) {
            try read("{\"version\":1,\"name\":5}")
        }
        #expect(throws: RoomError.malformed(TextError(.name, .empty).description)) {
            try read("{\"version\":1,\"name\":\"\"}")
        }
        #expect(throws: RoomError.malformed("it is not JSON")) { try read("{") }
        #expect(throws: RoomError.malformed("it is not JSON")) { try read(String(repeating: "[", count: 60_000)) }
        #expect(throws: RoomError.tooLarge(limit: 65_536)) { try read(String(repeating: " ", count: 65_537)) }
    }

    @Test func `the fields of recording are written only if set, and may be missing, null or unknown`() throws {
        func text(_ value: some Encodable) -> String { String(decoding: WireJSON.encoded(value), as: UTF8.self) }
        func read(_ text: String) throws -> Member { try WireJSON.decoded(Member.self, from: Array(text.utf8)) }
        let old = #"{"addresses":["10.0.0.1"],"away":false,"id":1,"muted":false,"name":"Anna","port":1}"#
        var member = Member(id: .first, name: name("Anna"), key: nil, addresses: [address(1)], port: 1)
        #expect(text(member) == old)
        #expect(try read(old) == member)
        #expect(!member.isRecording && member.allowsRecording == nil)
        let null = old.replacing(#""away""#, with: #""recording":null,"allowsRecording":null,"away""#)
        #expect(try read(null) == member)
        let newer = old.replacing(#""away""#, with: #""recordsVideo":[{}],"away""#)
        #expect(try read(newer) == member)
        let wrong = old.replacing(#""away""#, with: #""allowsRecording":"yes","away""#)
        #expect(throws: RoomError.malformed("'allowsRecording' is of another type than it should be")) {
            try read(wrong)
        }
        member.isRecording = true
        member.allowsRecording = false
        let new = old.replacing(#""away""#, with: #""allowsRecording":false,"away""#)
            .replacing(#""port":1"#, with: #""port":1,"recording":true"#)
        #expect(text(member) == new)
        #expect(try read(new) == member)
        #expect(text(MemberUpdate()) == "{}")
        #expect(text(MemberUpdate(isRecording: false)) == #"{"recording":false}"#)
        #expect(text(MemberUpdate(allowsRecording: true)) == #"{"allowsRecording":true}"#)
        let ask = JoinRequestBody(name: name("Anna"), addresses: [], port: 0)
        #expect(text(ask) == #"{"addresses":[],"muted":false,"name":"Anna","port":0,"version":1}"#)
        let recorder = JoinRequestBody(
            name: name("Anna"), addresses: [], port: 0, isRecording: true, allowsRecording: true)
        let sent = text(ask).replacing(#""muted""#, with: #""allowsRecording":true,"muted""#)
            .replacing(#""version""#, with: #""recording":true,"version""#)
        #expect(text(recorder) == sent)
    }

    @Test func `a roster without the fields of recording is read, and so is one with unknown fields`() throws {
        let roster = roster()
        let old = String(decoding: WireJSON.encoded(roster), as: UTF8.self)
        #expect(!old.lowercased().contains("recording"))
        let newer = old.replacing(#""muted""#, with: #""recordsVideo":true,"muted""#)
            .replacing(#""epoch""#, with: #""mood":{"of":[1]},"epoch""#)
        #expect(newer != old)
        for text in [old, newer] {
            #expect(try WireJSON.decoded(Roster.self, from: Array(text.utf8)) == roster, "\(text)")
        }
    }

    @Test(arguments: [
        ("GET", "/", RoomError.notFound), ("GET", "room", .notFound), ("GET", "/rooms", .notFound),
        ("PUT", "/room", .wrongMethod),
        ("GET", "/room/guests", .wrongMethod), ("POST", "/room/guests", .wrongMediaType),
        ("POST", "/room/guests/me", .wrongMethod),
        ("POST", "/room/members/0/offer", .noSuchMember), ("POST", "/room/members/-1/offer", .noSuchMember),
        ("POST", "/room/members/99999999999999999999/offer", .noSuchMember),
        ("GET", "/room/members/2/offer", .wrongMethod),
        ("POST", "/room/offers/2/answer", .noSuchOffer), ("POST", "/room/offers/2-x/answer", .noSuchOffer),
        ("DELETE", "/room/members/2/session/5", .noSuchOffer), ("DELETE", "/room/members/2/session", .notFound),
        ("DELETE", "/room/members/2/session/1-5/x", .notFound),
    ])
    func `an invalid path or method has a specific error`(method: String, path: String, error: RoomError) {
        #expect(throws: error) { try RoomRequest(method: method, path: path, parts: HTTPMessage()) }
    }

    @Test func `a description without a number, media type or valid text is refused`() {
        func read(_ fields: [String: String], _ body: [UInt8] = []) throws -> RoomRequest {
            try RoomRequest(
                method: "POST", path: "/room/members/2/offer", parts: HTTPMessage(fields: fields, body: body))
        }
        let sdp = ["content-type": "application/sdp", "earshot-offer": "5"]
        #expect(throws: RoomError.wrongMediaType) { try read(["earshot-offer": "5"]) }
        #expect(throws: RoomError.malformed("it has no field 'Earshot-Offer' with a number")) { try read([:]) }
        #expect(throws: RoomError.malformed("the description is not UTF-8")) { try read(sdp, [0xFF]) }
        #expect(throws: RoomError.tooLarge(limit: 32_768)) { try read(sdp, [UInt8](repeating: 65, count: 32_769)) }
        #expect(throws: RoomError.malformed("the field 'earshot-signature' is not base64")) {
            try read(sdp.merging(["earshot-signature": "%"]) { $1 })
        }
    }

    @Test func `an invalid roster is refused`() throws {
        let good = String(decoding: WireJSON.encoded(roster()), as: UTF8.self)
        func read(_ text: String) throws -> Roster { try WireJSON.decoded(Roster.self, from: Array(text.utf8)) }
        #expect(try read(good) == roster())
        for (what, instead) in [
            ("\"host\":1", "\"host\":9"), ("\"id\":2", "\"id\":1"), ("\"epoch\":1", "\"epoch\":0"),
            ("\"epoch\":1", "\"epoch\":4000000000"), ("\"revision\":3", "\"revision\":18446744073709551615"),
            ("\"revision\":3", "\"revision\":9007199254740992"),
            (TestKey(2).fingerprint.hex, TestKey(1).fingerprint.hex), ("\"id\":3", "\"id\":-3"),
        ] {
            #expect(good.contains(what))
            #expect(throws: RoomError.self, "\(what)") { try read(good.replacing(what, with: instead)) }
        }
    }

    @Test func `any body is either a valid request or an error`() throws {
        var random = SeededRandom(seed: 5)
        var asks = 0
        let base = RoomRequest.ask(request(1)).parts
        for _ in 0..<10_000 {
            var parts = base
            parts.body = random.damaged(
                base.body, pieces: ["\"", "{", "[", "null", "1e999", "\\ud800", "\"version\":1,"])
            guard let read = try? RoomRequest(method: "POST", path: "/room/guests", parts: parts) else { continue }
            asks += 1
            #expect(try sent(read) == read)
        }
        #expect(asks > 500)
    }
}
