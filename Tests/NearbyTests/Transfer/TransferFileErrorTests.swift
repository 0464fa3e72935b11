// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization
import TestTraits
import Testing

@testable import EarshotNearby

/// Files between members when something is wrong.
@Suite(.realTime(leastStandstill: 1), .timeLimit(.minutes(1))) struct TransferFileErrorTests {
    @Test func `a path that cannot be sent is refused immediately, with a specific error`() async throws {
        try await withFolder { folder in
            try await withPair { _, a, b in
                mkfifo("\(folder)/pipe", 0o600)
                for (path, error) in [
                    ("\(folder)/none", TransferError.noSuchFile("\(folder)/none")),
                    ("\(folder)", .isDirectory(folder)), ("\(folder)/pipe", .notRegular("\(folder)/pipe")),
                    ("/dev/null", .notRegular("/dev/null")), ("/dev/null/x", .noSuchFile("/dev/null/x")),
                ] {
                    await #expect(throws: error) { _ = try await a.transfers.sendFile(at: path, to: [b.id]) }
                }
            }
        }
    }

    @Test func `a missing or unwritable folder is refused, and the offer can be accepted elsewhere`() async throws {
        try await withFolder { folder in
            try await withPair { _, a, b in
                try write(noise(10), to: "\(folder)/x")
                let sending = try await a.transfers.sendFile(at: "\(folder)/x", to: [b.id])
                let file = try await b.file()
                await #expect(throws: TransferError.noSuchFolder("\(folder)/none")) {
                    try await file.accept(into: "\(folder)/none")
                }
                await #expect(throws: TransferError.noSuchFolder("\(folder)/x")) {
                    try await file.accept(into: "\(folder)/x")
                }
                // Nobody may write there, not even root.
                let refused = await #expect(throws: TransferError.self) { try await file.accept(into: "/proc") }
                guard case .notWritable("/proc", _)? = refused else {
                    Issue.record("\(String(describing: refused))")
                    return
                }
                mkdir("\(folder)/here", 0o700)
                try await file.accept(into: "\(folder)/here")
                #expect(try await file.finished() == "\(folder)/here/x")
                try await sending.finished()
            }
        }
    }

    @Test func `a file that changes while it is sent does not arrive, and both sides get an error`() async throws {
        try await withFolder { folder in
            try await withPair { _, a, b in
                try write(noise(1_000_000), to: "\(folder)/x")
                let sending = try await a.transfers.sendFile(at: "\(folder)/x", to: [b.id])
                let file = try await b.file()
                try write(noise(1_000_000, seed: 2), to: "\(folder)/y")
                let handle = try #require(FileHandle(forWritingAtPath: "\(folder)/x"))
                try handle.write(contentsOf: noise(10, seed: 3))
                try handle.close()
                mkdir("\(folder)/here", 0o700)
                try await file.accept(into: "\(folder)/here")
                await #expect(throws: TransferFailure([b.id: .changed("\(folder)/x")])) { try await sending.finished() }
                await #expect(throws: TransferError.withdrawn) { try await file.finished() }
            }
        }
    }

    @Test func `a file that shrinks while it is read is reported as changed`() async throws {
        try await withFolder { folder in
            try write(noise(10), to: "\(folder)/x")
            let source = try await SourceFile.open("\(folder)/x")
            truncate("\(folder)/x", 5)
            await #expect(throws: TransferError.changed("\(folder)/x")) { try await source.hash { _ in } }
            await #expect(throws: TransferError.changed("\(folder)/x")) { try await source.bytes(at: 0, count: 10) }
        }
    }

    @Test func `a file whose bytes do not match the announced hash is detected`() async throws {
        try await withFolder { folder in
            try await withPair { _, a, b in
                let client = try a.client(of: b)
                let hash = SHA256Digest(of: [1, 2, 3]).hex
                let headers: HTTPHeaders = ["Earshot-Number": "1-1", "Earshot-Offset": "0"]
                async let offered = client.send(
                    .POST, "/files/\(hash)", headers: headers, content: .text(#"{"version":1,"name":"x","size":3}"#))
                let file = try await b.file()
                try await file.accept(into: folder)
                #expect(try await offered.head.status == .ok)
                let (head, body) = try await client.send(
                    .PUT, "/files/\(hash)", headers: headers, content: .text("abc"))
                #expect(head.status == .unprocessableEntity)
                #expect(TransferError(status: head.status, body: body) == .damaged)
                await #expect(throws: TransferError.damaged) { try await file.finished() }
                #expect(listing(folder) == [])
            }
        }
    }

    @Test func `too many bytes end a transfer, and too few make it wait for the rest`() async throws {
        try await withFolder { folder in
            try await withPair { _, a, b in
                let client = try a.client(of: b)
                let hash = SHA256Digest(of: Array("abc".utf8)).hex
                func put(_ text: String, at offset: String, _ number: String) async throws -> HTTPResponseStatus {
                    try await client.send(
                        .PUT, "/files/\(hash)", headers: ["Earshot-Number": number, "Earshot-Offset": offset],
                        content: .text(text)
                    ).head.status
                }
                for (number, text) in [("1-1", "abcd"), ("1-2", "abc")] {
                    async let offered = client.send(
                        .POST, "/files/\(hash)", headers: ["Earshot-Number": number],
                        content: .text(#"{"version":1,"name":"x","size":3}"#))
                    let file = try await b.file()
                    try await file.accept(into: folder)
                    _ = try await offered
                    if text == "abcd" {
                        #expect(try await put(text, at: "0", number) == .badRequest)
                        await #expect(throws: TransferError.self) { try await file.finished() }
                        continue
                    }
                    #expect(try await put("a", at: "0", number) == .badRequest)
                    for offset in ["0", "2", "3", "99999999999"] {
                        #expect(try await put("bc", at: offset, number) == .conflict)
                    }
                    for offset in ["", "-1", "x", "1e0", "99999999999999999999999"] {
                        #expect(try await put("bc", at: offset, number) == .badRequest)
                    }
                    #expect(try await put("bc", at: "1", "1-9") == .notFound)
                    #expect(try await put("bc", at: "1", number) == .noContent)
                    #expect(contents(try await file.finished()) == Array("abc".utf8))
                }
            }
        }
    }

    @Test func `malformed offers are refused`() async throws {
        try await withPair { _, a, b in
            let client = try a.client(of: b)
            let hash = SHA256Digest(of: [1]).hex
            for body in [
                "", "{}", "[]", #"{"version":1,"name":"x"}"#, #"{"version":1,"name":"x","size":-1}"#,
                #"{"version":1,"name":"x","size":1.5}"#, #"{"version":1,"name":"x","size":9007199254740992}"#,
                #"{"version":1,"name":"x","size":1e400}"#, #"{"version":2,"name":"x","size":1}"#,
                #"{"version":1,"name":7,"size":1}"#, String(repeating: "[", count: 4_000),
            ] {
                let answer = try await client.send(
                    .POST, "/files/\(hash)", headers: ["Earshot-Number": "1-1"], content: .text(body))
                #expect(answer.head.status == .badRequest)
            }
            let long = HTTPContent.text(#"{"version":1,"name":"\#(String(repeating: "x", count: 5_000))","size":1}"#)
            let answer = try await client.send(
                .POST, "/files/\(hash)", headers: ["Earshot-Number": "1-1"], content: long)
            #expect(answer.head.status == .payloadTooLarge)
            for path in ["/files/x", "/files/\(hash)00", "/files/..%2F\(hash)", "/files/\(hash.dropLast())g"] {
                let answer = try await client.send(
                    .POST, path, headers: ["Earshot-Number": "1-1"], content: .text("{}"))
                #expect(answer.head.status == .badRequest)
            }
            #expect(try await client.send(.POST, "/files", content: .text("{}")).head.status == .notFound)
            #expect(try await client.send(.GET, "/files/\(hash)").head.status == .methodNotAllowed)
            let unknown = try await client.send(.DELETE, "/files/\(hash)", headers: ["Earshot-Number": "1-1"])
            #expect(unknown.head.status == .notFound)
        }
    }

    @Test func `the number of simultaneous file offers is limited`() async throws {
        var limits = TransferLimits()
        limits.filesPerMember = 2
        limits.offerHold = .milliseconds(20)
        try await withPair(limits: limits) { _, a, b in
            let client = try a.client(of: b)
            var files: [IncomingFile] = []
            for number in 1...3 {
                let answer = try await client.send(
                    .POST, "/files/\(SHA256Digest(of: [1]).hex)", headers: ["Earshot-Number": "1-\(number)"],
                    content: .text(#"{"version":1,"name":"x","size":1}"#))
                #expect(answer.head.status == (number == 3 ? .tooManyRequests : .accepted))
                if number < 3 { files.append(try await b.file()) }
            }
            #expect(files.count == 2)
        }
    }

    @Test func `a receiver that immediately replies that it is undecided is not flooded with requests`() async throws {
        try await withFolder { folder in
            try await withPair { room, a, _ in
                let asked = Counter()
                try await withServer { _ in
                    asked.add(1)
                    return HTTPResponse(status: .accepted)
                } _: { server async throws in
                    let third = try #require(MemberID(3))
                    let key = try PublicKey(spki: TestIdentity.server.publicKey).fingerprint
                    room.enter(third, key, at: server.localAddress)
                    try write([1], to: "\(folder)/x")
                    let sending = try await a.transfers.sendFile(at: "\(folder)/x", to: [third])
                    #expect(await soon { asked.value > 0 })
                    try await Task.sleep(for: .milliseconds(500))
                    #expect(asked.value < 20)
                    sending.cancel()
                }
            }
        }
    }

    @Test func `a directory is refused, and no file descriptor of other code is closed`() async throws {
        try await withFolder { folder in
            let isOver = Counter()
            let stolen = Counter()
            Thread.detachNewThread {
                while isOver.value == 0 {
                    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
                    if close(descriptor) != 0 { stolen.add(1) }
                }
                isOver.add(1)
            }
            for _ in 0..<3_000 {
                await #expect(throws: TransferError.isDirectory(folder)) { try await SourceFile.open(folder) }
            }
            isOver.add(1)
            #expect(await soon { isOver.value == 2 })
            #expect(stolen.value == 0)
        }
    }

    @Test func `a file is offered again later if the application does not read offers`() async throws {
        var limits = TransferLimits()
        limits.offerHold = .milliseconds(30)
        try await withFolder { folder in
            try await withPair(capacity: 0, limits: limits) { _, a, b in
                try write([1], to: "\(folder)/x")
                let sending = try await a.transfers.sendFile(at: "\(folder)/x", to: [b.id])
                try await Task.sleep(for: .milliseconds(200))
                let file = try await b.file()
                mkdir("\(folder)/here", 0o700)
                try await file.accept(into: "\(folder)/here")
                #expect(try await file.finished() == "\(folder)/here/x")
                try await sending.finished()
            }
        }
    }

    @Test func `the same file cannot be received twice at once in one folder`() async throws {
        try await withFolder { folder in
            try await withPair { room, a, b in
                try write(noise(100), to: "\(folder)/x")
                mkdir("\(folder)/here", 0o700)
                let third = try await TestMember(3, in: room)
                let wire = try TestWire(to: b.server.localAddress)
                defer { wire.end() }
                let first = try await a.transfers.sendFile(at: "\(folder)/x", to: [b.id])
                let file = try await b.file()
                let held = try ResumableFile(
                    in: "\(folder)/here", name: "x", digest: SHA256Digest(of: noise(100)), size: 100)
                await #expect(throws: TransferError.alreadyArriving("\(folder)/here")) {
                    try await file.accept(into: "\(folder)/here")
                }
                withExtendedLifetime(held) {}
                _ = consume held
                try await file.accept(into: "\(folder)/here")
                try await first.finished()
                await third.end()
            }
        }
    }

    @Test func `a transfer cancelled by the sender or the receiver is reported to the other side`() async throws {
        try await withFolder { folder in
            try await withPair { room, a, b in
                let wire = try TestWire(to: b.server.localAddress)
                defer { wire.end() }
                room.enter(b.id, b.identity.fingerprint, at: wire.address)
                try write(noise(20_000_000), to: "\(folder)/x")
                mkdir("\(folder)/here", 0o700)
                for isSender in [true, false] {
                    let sending = try await a.transfers.sendFile(at: "\(folder)/x", to: [b.id])
                    let file = try await b.file()
                    try await file.accept(into: "\(folder)/here")
                    if isSender {
                        sending.cancel()
                        await #expect(throws: TransferFailure([b.id: .cancelled])) { try await sending.finished() }
                        await #expect(throws: TransferError.withdrawn) { try await file.finished() }
                        #expect(listing("\(folder)/here").count == 1)
                    } else {
                        file.decline()
                        await #expect(throws: TransferFailure([b.id: .declined])) { try await sending.finished() }
                        await #expect(throws: TransferError.declined) { try await file.finished() }
                        #expect(await soon { listing("\(folder)/here") == [] })
                    }
                }
            }
        }
    }

    @Test func `a sender that falls silent is given up`() async throws {
        var limits = TransferLimits()
        limits.fileSilence = .milliseconds(200)
        try await withPair(limits: limits) { _, a, b in
            let client = try a.client(of: b)
            let ask = Task {
                try await client.send(
                    .POST, "/files/\(SHA256Digest(of: [1]).hex)", headers: ["Earshot-Number": "1-1"],
                    content: .text(#"{"version":1,"name":"x","size":1}"#), timeout: .seconds(60))
            }
            let file = try await b.file()
            // The sender ends without a message.
            ask.cancel()
            _ = await ask.result
            await #expect(throws: TransferError.withdrawn) { try await file.finished() }
            await #expect(throws: TransferError.withdrawn) { try await file.accept(into: "/tmp") }
        }
    }

    @Test func `a transfer ends on both sides when a member leaves, and received data is kept`() async throws {
        try await withFolder { folder in
            try await withPair { room, a, b in
                try write(noise(30_000_000), to: "\(folder)/x")
                mkdir("\(folder)/here", 0o700)
                let sending = try await a.transfers.sendFile(at: "\(folder)/x", to: [b.id])
                let file = try await b.file()
                try await file.accept(into: "\(folder)/here")
                room.leave(a.id)
                b.transfers.ended(with: a.id)
                await #expect(throws: TransferError.gone) { try await file.finished() }
                await #expect(throws: TransferFailure([b.id: .gone])) { try await sending.finished() }
                #expect(listing("\(folder)/here").allSatisfy { $0.hasSuffix(".part") })
            }
        }
    }

    /// A disk of 4 MB, if the system allows it.
    private static let canMount = geteuid() == 0

    @Test(.enabled(if: canMount))
    func `a full disk is reported on both sides, and the transfer resumes when there is space`()
        async throws
    {
        try await withFolder { folder in
            try await withPair { room, a, b in
                let disk = "\(folder)/disk"
                mkdir(disk, 0o700)
                let mounted = try await run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk])
                try #require(mounted.status == 0, "\(mounted.errors)")
                let bytes = noise(3_000_000)
                try write(bytes, to: "\(folder)/x")
                try write(noise(5_000_000), to: "\(folder)/large")
                do {
                    try await Self.fill(disk, "\(folder)/x", bytes, room, a, b)
                    try await Self.overflow(disk, "\(folder)/large", a, b)
                } catch {
                    Issue.record(error)
                }
                #expect(try await run(["umount", disk]).status == 0)
            }
        }
    }

    private static func fill(
        _ disk: String, _ path: String, _ bytes: [UInt8], _ room: TestRoom, _ a: TestMember, _ b: TestMember
    ) async throws {
        let wire = try TestWire(to: b.server.localAddress)
        defer { wire.end() }
        room.enter(b.id, b.identity.fingerprint, at: wire.address)
        defer { room.enter(b.id, b.identity.fingerprint, at: b.server.localAddress) }
        let sending = try await a.transfers.sendFile(at: path, to: [b.id])
        let file = try await b.file()
        wire.hold(true)
        try await file.accept(into: disk)
        try write(noise(2_000_000), to: "\(disk)/other")
        wire.hold(false)
        await #expect(throws: TransferFailure([b.id: .remoteDiskFull])) { try await sending.finished() }
        await #expect(throws: TransferError.disk(disk, ENOSPC)) { try await file.finished() }
        let part = try #require(listing(disk).first)
        #expect(part.hasSuffix(".part") && contents("\(disk)/\(part)").count > 1_000_000)
        unlink("\(disk)/other")
        let again = try await a.transfers.sendFile(at: path, to: [b.id])
        let rest = try await b.file()
        try await rest.accept(into: disk)
        #expect(contents(try await rest.finished()) == bytes)
        try await again.finished()
    }

    private static func overflow(_ disk: String, _ path: String, _ a: TestMember, _ b: TestMember) async throws {
        let sending = try await a.transfers.sendFile(at: path, to: [b.id])
        let file = try await b.file()
        let full = await #expect(throws: TransferError.self) { try await file.accept(into: disk) }
        guard case .noSpace(disk, needed: 5_000_000, free: ..<4_200_000)? = full else {
            Issue.record("\(String(describing: full))")
            return
        }
        #expect(listing(disk) == ["x"])
        #expect(try await run(["mount", "-o", "remount,ro", disk]).status == 0)
        await #expect(throws: TransferError.notWritable(disk, EROFS)) { try await file.accept(into: disk) }
        file.decline()
        await #expect(throws: TransferFailure([b.id: .declined])) { try await sending.finished() }
    }

    @Test func `disk errors are transmitted to the other side`() throws {
        for (error, other) in [
            (TransferError.disk("/x", ENOSPC), TransferError.remoteDiskFull), (.disk("/x", EDQUOT), .remoteDiskFull),
            (.disk("/x", EIO), .remoteDisk), (.declined, .declined), (.damaged, .damaged), (.busy, .busy),
            (.ended, .gone),
        ] {
            guard case .bytes(let bytes) = error.problem.response.content else { Issue.record("\(error)"); continue }
            #expect(TransferError(status: error.problem.status, body: bytes) == other)
        }
        for body in ["", "{}", #"{"error":7}"#, String(repeating: "[", count: 9_000)] {
            guard case .refused = TransferError(status: .badRequest, body: Array(body.utf8)) else {
                Issue.record("\(body)")
                return
            }
        }
    }
}
