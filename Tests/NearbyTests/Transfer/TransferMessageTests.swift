// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import NIOCore
import NIOHTTP1
import Synchronization
import TestTraits
import Testing

@testable import EarshotNearby

/// Messages between members.
@Suite(.realTime(leastStandstill: 1), .timeLimit(.minutes(1))) struct TransferMessageTests {
    @Test func `messages of any size arrive once and in order`() async throws {
        try await withPair { _, a, b in
            let sizes = [1, 2, 1_000, 65_535, 65_536] + (3..<40)
            async let sending: Void = {
                for size in sizes { try await a.transfers.send(noise(size), to: [b.id]) }
            }()
            for size in sizes { #expect(try await b.message() == noise(size)) }
            try await sending
        }
    }

    @Test func `an empty or too long message is refused by both the sender and the receiver`() async throws {
        try await withPair { _, a, b in
            await #expect(throws: TransferFailure([b.id: .empty])) { try await a.transfers.send([], to: [b.id]) }
            await #expect(throws: TransferFailure([b.id: .tooLong(limit: 65_536)])) {
                try await a.transfers.send(noise(65_537), to: [b.id])
            }
            let client = try a.client(of: b)
            let headers: HTTPHeaders = ["Earshot-Number": "1-1"]
            #expect(try await client.send(.POST, "/messages", headers: headers).head.status == .badRequest)
            let long = HTTPContent.bytes(noise(65_537))
            let status = try await client.send(.POST, "/messages", headers: headers, content: long).head.status
            #expect(status == .payloadTooLarge)
            for number in ["", "1", "1-", "-1", "1-2-3", "1-x", "+1-1", "1-99999999999999999", "1 -1"] {
                let answer = try await client.send(
                    .POST, "/messages", headers: ["Earshot-Number": number], content: .text("x"))
                #expect(answer.head.status == .badRequest)
            }
            #expect(try await client.send(.PUT, "/messages").head.status == .methodNotAllowed)
            #expect(try await client.send(.POST, "/messages/x", content: .text("x")).head.status == .notFound)
            try await a.transfers.send([1], to: [b.id])
            #expect(try await b.message() == [1])
        }
    }

    @Test func `a message to several members reports who did not receive it, and why`() async throws {
        try await withPair { room, a, b in
            let third = try await TestMember(3, in: room)
            let gone = try #require(MemberID(9))
            await #expect(throws: TransferFailure([gone: .gone])) {
                try await a.transfers.send([7], to: [b.id, gone, third.id])
            }
            #expect(try await b.message() == [7])
            #expect(try await third.message() == [7])
            await third.end()
        }
    }

    @Test func `a stranger or a client without a key gets status 403 before its body is read`() async throws {
        try await withPair { room, _, b in
            let stranger = try await TestMember(3, in: room, enters: false)
            let nobody = try HTTPSClient(addresses: [b.server.localAddress], identity: nil) { _ in .trusted }
            for client in [try stranger.client(of: b), nobody] {
                for (method, path) in [(HTTPMethod.POST, "/messages"), (.PUT, "/files/ab"), (.POST, "/streams/x")] {
                    let written = Counter()
                    let content = HTTPContent.stream { writer in
                        while true {
                            try await writer.write([UInt8](repeating: 0, count: 65_536))
                            written.add(1)
                        }
                    }
                    let (head, body) = try await client.send(method, path, content: content)
                    #expect(head.status == .forbidden)
                    #expect(TransferError(status: head.status, body: body) == .gone)
                    // The kernels hold at most this much.
                    #expect(written.value < 256)
                }
            }
            await stranger.end()
        }
    }

    @Test func `a member with a different key gets no message, and the error names both keys`() async throws {
        try await withPair { room, a, b in
            let other = try Identity.generate(at: 0)
            room.enter(b.id, other.fingerprint, at: b.server.localAddress)
            let failure = await #expect(throws: TransferFailure.self) { try await a.transfers.send([1], to: [b.id]) }
            guard case .wrongKey(let words)? = failure?.reasons[b.id] else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(words.contains(other.fingerprint.description) && words.contains(b.identity.fingerprint.description))
        }
    }

    @Test func `an application that does not read suspends the sender, and no message is lost`() async throws {
        var limits = TransferLimits()
        limits.messageHold = .milliseconds(50)
        try await withPair(capacity: 2, limits: limits) { _, a, b in
            let sent = Counter()
            async let sending: Void = {
                for number in 0..<8 {
                    try await a.transfers.send([UInt8(number)], to: [b.id])
                    sent.add(1)
                }
            }()
            #expect(await soon { sent.value == 2 })
            // Longer than a message is held: it is sent again meanwhile.
            try await Task.sleep(for: .milliseconds(500))
            #expect(sent.value == 2)
            for number in 0..<8 { #expect(try await b.message() == [UInt8(number)]) }
            try await sending
        }
    }

    @Test func `a message to an application that never reads fails, and the next one is tried afresh`() async throws {
        var limits = TransferLimits()
        limits.messageHold = .milliseconds(20)
        limits.retryTimeout = .milliseconds(200)
        try await withPair(capacity: 0, limits: limits) { _, a, b in
            await #expect(throws: TransferFailure([b.id: .busy])) { try await a.transfers.send([1], to: [b.id]) }
            // From now on messages are read. The next one may still be given up on a slow machine, but not every time.
            let read = Mutex<[[UInt8]]>([])
            let reading = Task {
                while let message = try await b.message() { read.withLock { $0.append(message) } }
            }
            for number in 1...50 {
                do {
                    try await a.transfers.send([2], to: [b.id])
                    break
                } catch {
                    #expect(error as? TransferFailure == TransferFailure([b.id: .busy]) && number < 50)
                }
            }
            #expect(await soon { !read.withLock { $0.isEmpty } })
            #expect(read.withLock { $0.allSatisfy { $0 == [2] } })
            reading.cancel()
        }
    }

    @Test(arguments: [(HTTPResponseStatus.forbidden, "not-member"), (.notFound, "not-found")])
    func `a receiver with an outdated roster is tried again, for messages and files`(
        status: HTTPResponseStatus, code: String
    ) async throws {
        try await withFolder { folder in
            try await withPair { room, a, _ in
                let asked = Counter()
                try await withServer { request in
                    guard asked.add(1) > 3 else { throw HTTPProblem(status: status, code: code, message: code) }
                    guard request.target.components.first == "files" else { return HTTPResponse(status: .noContent) }
                    return HTTPResponse(content: .text(#"{"have": 1, "done": true}"#))
                } _: { server async throws in
                    let third = try #require(MemberID(3))
                    let key = try PublicKey(spki: TestIdentity.server.publicKey).fingerprint
                    room.enter(third, key, at: server.localAddress)
                    try await a.transfers.send([1], to: [third])
                    #expect(asked.value == 4)
                    asked.add(-4)
                    try write([1], to: "\(folder)/x")
                    try await a.transfers.sendFile(at: "\(folder)/x", to: [third]).finished()
                    #expect(asked.value == 4)
                }
            }
        }
    }

    @Test func `a sender gives up if the receiver keeps denying its membership`() async throws {
        var limits = TransferLimits()
        limits.rosterGracePeriod = .milliseconds(200)
        try await withPair(limits: limits) { room, a, _ in
            let elsewhere = try await TestMember(3, in: TestRoom(), enters: false)
            room.enter(elsewhere.id, elsewhere.identity.fingerprint, at: elsewhere.server.localAddress)
            await #expect(throws: TransferFailure([elsewhere.id: .gone])) {
                try await a.transfers.send([1], to: [elsewhere.id])
            }
            await elsewhere.end()
        }
    }

    @Test func `a message arrives only once if its connection is cut before the response`() async throws {
        try await withPair { room, a, b in
            let wire = try TestWire(to: b.server.localAddress)
            defer { wire.end() }
            room.enter(b.id, b.identity.fingerprint, at: wire.address)
            try await a.transfers.send([0], to: [b.id])
            for number in 1..<30 {
                // Somewhere in the request, or sometimes after it, in the answer.
                wire.cut(after: number * 17)
                try await a.transfers.send([UInt8(number)], to: [b.id])
                wire.cutNow()
            }
            for number in 0..<30 { #expect(try await b.message() == [UInt8(number)]) }
            #expect(wire.connections > 10)
        }
    }

    @Test func `a repeated message number is dropped, and a new process replaces the old one`() async throws {
        try await withPair { _, a, b in
            let client = try a.client(of: b)
            func post(_ number: String, _ text: String) async throws -> HTTPResponseStatus {
                try await client.send(.POST, "/messages", headers: ["Earshot-Number": number], content: .text(text))
                    .head
                    .status
            }
            #expect(try await post("5-1", "a") == .noContent)
            #expect(try await post("5-1", "a") == .noContent)
            #expect(try await post("5-4", "b") == .noContent)
            #expect(try await post("5-3", "late") == .noContent)
            #expect(try await post("6-1", "c") == .noContent)
            #expect(try await post("5-5", "old") == .conflict)
            #expect(try await post("6-2", "d") == .noContent)
            for text in ["a", "b", "c", "d"] { #expect(try await b.message() == Array(text.utf8)) }
        }
    }

    @Test func `a retransmitted message replaces the one still waiting for the application`() async throws {
        try await withPair(capacity: 0) { _, a, b in
            let first = try a.client(of: b)
            let held = Task {
                try await first.send(.POST, "/messages", headers: ["Earshot-Number": "1-1"], content: .text("x"))
            }
            try await Task.sleep(for: .milliseconds(100))
            let second = try a.client(of: b)
            async let again = second.send(.POST, "/messages", headers: ["Earshot-Number": "1-1"], content: .text("x"))
            try await Task.sleep(for: .milliseconds(100))
            #expect(try await b.message() == [UInt8(ascii: "x")])
            #expect(try await again.head.status == .noContent)
            _ = await held.result
            async let next = second.send(.POST, "/messages", headers: ["Earshot-Number": "1-2"], content: .text("y"))
            #expect(try await b.message() == [UInt8(ascii: "y")])
            _ = try await next
        }
    }

    @Test func `messages fail once the receiver has left the room or the sender has closed`() async throws {
        try await withPair(capacity: 0) { room, a, b in
            async let failure = #expect(throws: TransferFailure.self) { try await a.transfers.send([1], to: [b.id]) }
            try await Task.sleep(for: .milliseconds(100))
            room.leave(b.id)
            a.transfers.ended(with: b.id)
            #expect(await failure?.reasons == [b.id: .gone])
            await #expect(throws: TransferFailure([b.id: .gone])) { try await a.transfers.send([1], to: [b.id]) }
            a.transfers.close()
            await #expect(throws: TransferFailure([b.id: .ended])) { try await a.transfers.send([1], to: [b.id]) }
        }
    }

    @Test func `an unreachable member is tried for a while, and then named in the error`() async throws {
        var limits = TransferLimits()
        limits.retryTimeout = .milliseconds(300)
        try await withPair(limits: limits) { _, a, b in
            await b.end()
            let failure = await #expect(throws: TransferFailure.self) { try await a.transfers.send([1], to: [b.id]) }
            guard case .unreachable? = failure?.reasons[b.id] else {
                Issue.record("\(String(describing: failure))")
                return
            }
        }
    }

    @Test func `a cancelled message is given up, and the next one goes through`() async throws {
        try await withPair(capacity: 0) { _, a, b in
            let cancelled = Task { try await a.transfers.send([1], to: [b.id]) }
            try await Task.sleep(for: .milliseconds(100))
            cancelled.cancel()
            await #expect(throws: TransferFailure([b.id: .cancelled])) { try await cancelled.value }
            #expect(await soon { b.server.table.count == 0 })
            async let sending: Void = a.transfers.send([2], to: [b.id])
            #expect(try await b.message() == [2])
            try await sending
        }
    }
}
