// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import EarshotNearby

/// Files between members without faults.
@Suite(.realTime(leastStandstill: 1), .timeLimit(.minutes(1))) struct TransferFileTests {
    @Test(arguments: [0, 1, 65_536, 3_000_001])
    func `a file of any size arrives verified, and only its owner can read it`(size: Int) async throws {
        try await withFolder { folder in
            try await withPair { _, a, b in
                try write(noise(size), to: "\(folder)/song.wav")
                let sending = try await a.transfers.sendFile(at: "\(folder)/song.wav", to: [b.id])
                let file = try await b.file()
                #expect(file.name == "song.wav" && file.size == Int64(size) && file.member == a.id)
                #expect(file.hash == SHA256Digest(of: noise(size)))
                let place = "\(folder)/here"
                mkdir(place, 0o700)
                try await file.accept(into: place)
                let path = try await file.finished()
                try await sending.finished()
                #expect(path == "\(place)/song.wav" && contents(path) == noise(size))
                #expect(listing(place) == ["song.wav"])
                var status = stat()
                #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            }
        }
    }

    @Test func `a received file never overwrites another`() async throws {
        try await withFolder { folder in
            try await withPair { _, a, b in
                for number in 1...3 {
                    try write([UInt8(number)], to: "\(folder)/a.tar.gz")
                    let sending = try await a.transfers.sendFile(at: "\(folder)/a.tar.gz", to: [b.id])
                    let file = try await b.file()
                    let place = "\(folder)/here"
                    mkdir(place, 0o700)
                    try await file.accept(into: place)
                    #expect(contents(try await file.finished()) == [UInt8(number)])
                    try await sending.finished()
                }
                #expect(listing("\(folder)/here") == ["a.tar (2).gz", "a.tar (3).gz", "a.tar.gz"])
            }
        }
    }

    @Test func `the sender is notified when an offer is declined or released`() async throws {
        try await withFolder { folder in
            try await withPair { _, a, b in
                try write([1], to: "\(folder)/x")
                for isSaid in [true, false] {
                    let sending = try await a.transfers.sendFile(at: "\(folder)/x", to: [b.id])
                    var file: IncomingFile? = try await b.file()
                    if isSaid { file?.decline() }
                    file = nil
                    await #expect(throws: TransferFailure([b.id: .declined])) { try await sending.finished() }
                }
            }
        }
    }

    @Test func `a receiver may take a long time to decide`() async throws {
        var limits = TransferLimits()
        limits.offerHold = .milliseconds(50)
        try await withFolder { folder in
            try await withPair(limits: limits) { _, a, b in
                try write([1], to: "\(folder)/x")
                let sending = try await a.transfers.sendFile(at: "\(folder)/x", to: [b.id])
                let file = try await b.file()
                // It is offered many times meanwhile, and received once.
                try await Task.sleep(for: .milliseconds(300))
                mkdir("\(folder)/here", 0o700)
                try await file.accept(into: "\(folder)/here")
                #expect(try await file.finished() == "\(folder)/here/x")
                try await sending.finished()
                b.arrivals.finish()
                #expect(try await b.arrivals.next() == nil)
            }
        }
    }

    @Test func `a file is offered to several members, each of whom decides`() async throws {
        try await withFolder { folder in
            try await withPair { room, a, b in
                let third = try await TestMember(3, in: room)
                try write(noise(100_000), to: "\(folder)/x")
                let sending = try await a.transfers.sendFile(at: "\(folder)/x", to: [b.id, third.id])
                let file = try await b.file()
                mkdir("\(folder)/here", 0o700)
                try await file.accept(into: "\(folder)/here")
                try await third.file().decline()
                await #expect(throws: TransferFailure([third.id: .declined])) { try await sending.finished() }
                #expect(contents(try await file.finished()) == noise(100_000))
                await third.end()
            }
        }
    }

    @Test func `an interrupted transfer resumes without sending received data again`() async throws {
        try await withFolder { folder in
            try await withPair { room, a, b in
                let wire = try TestWire(to: b.server.localAddress)
                defer { wire.end() }
                room.enter(b.id, b.identity.fingerprint, at: wire.address)
                let bytes = noise(8_000_000)
                try write(bytes, to: "\(folder)/x")
                let sending = try await a.transfers.sendFile(at: "\(folder)/x", to: [b.id])
                let file = try await b.file()
                mkdir("\(folder)/here", 0o700)
                wire.cut(after: 3_000_000)
                try await file.accept(into: "\(folder)/here")
                let path = try await file.finished()
                try await sending.finished()
                #expect(contents(path) == bytes && listing("\(folder)/here") == ["x"])
                // The two parts came over different connections.
                #expect(wire.connections >= 2)
            }
        }
    }

    @Test func `a file is received only once if the last response was lost`() async throws {
        try await withFolder { folder in
            try await withPair { _, a, b in
                let (client, hash) = (try a.client(of: b), SHA256Digest(of: [1, 2, 3]).hex)
                func ask(_ method: HTTPMethod, _ text: String, _ offset: Int? = nil) async throws -> HTTPResponseStatus
                {
                    var headers: HTTPHeaders = ["Earshot-Number": "1-1"]
                    if let offset { headers.add(name: "Earshot-Offset", value: "\(offset)") }
                    return try await client.send(method, "/files/\(hash)", headers: headers, content: .text(text)).head
                        .status
                }
                async let offered = ask(.POST, #"{"version":1,"name":"x","size":3}"#)
                let file = try await b.file()
                try await file.accept(into: folder)
                #expect(try await offered == .ok)
                #expect(try await ask(.PUT, "\u{1}\u{2}\u{3}", 0) == .noContent)
                #expect(try await ask(.PUT, "\u{1}\u{2}\u{3}", 0) == .noContent)
                #expect(try await ask(.POST, #"{"version":1,"name":"x","size":3}"#) == .ok)
                #expect(listing(folder) == ["x"])
            }
        }
    }

    @Test func `progress covers hashing and transfer, ends as done, and comes at most ten times a second`() async throws
    {
        try await withFolder { folder in
            try await withPair { _, a, b in
                try write(noise(20_000_000), to: "\(folder)/x")
                let sending = try await a.transfers.sendFile(at: "\(folder)/x", to: [b.id])
                let file = try await b.file()
                mkdir("\(folder)/here", 0o700)
                try await file.accept(into: "\(folder)/here")
                async let theirs: [FileProgress] = file.progress.reduce(into: []) { $0.append($1) }
                let start = ContinuousClock.now
                let ours: [[FileProgress]] = await sending.progress.reduce(into: []) { $0.append($1) }
                let ticks = (ContinuousClock.now - start) / .milliseconds(100)
                #expect(Double(ours.count) <= ticks + 3)
                #expect(ours.last?.first?.phase == .done && ours.last?.first?.bytes == 20_000_000)
                let last = await theirs.last
                #expect(last?.phase == .done && last?.bytes == 20_000_000 && last?.member == a.id)
                try await sending.finished()
            }
        }
    }

    @Test func `a restarted receiver resumes where it stopped`() async throws {
        try await withFolder { folder in
            let room = TestRoom()
            let a = try await TestMember(1, in: room)
            let port = try ReservedPort.next()
            let first = try await TestMember(2, in: room, port: port)
            let wire = try TestWire(to: first.server.localAddress)
            defer { wire.end() }
            room.enter(first.id, first.identity.fingerprint, at: wire.address)
            let bytes = noise(6_000_000)
            try write(bytes, to: "\(folder)/x")
            mkdir("\(folder)/here", 0o700)
            let sending = try await a.transfers.sendFile(at: "\(folder)/x", to: [first.id])
            let file = try await first.file()
            wire.hold(after: 2_000_000)
            try await file.accept(into: "\(folder)/here")
            #expect(await soon { wire.isHolding && partSize("\(folder)/here") > 1_000_000 })
            await first.end()
            await #expect(throws: TransferError.ended) { try await file.finished() }
            let part = try #require(listing("\(folder)/here").first)
            #expect(part == ".x.\(SHA256Digest(of: bytes).hex).part")
            var status = stat()
            #expect(stat("\(folder)/here/\(part)", &status) == 0 && status.st_mode & 0o777 == 0o600)
            wire.cutNow()
            wire.hold(false)
            let passed = wire.passed
            let second = try await TestMember(2, in: room, identity: first.identity, port: port, enters: false)
            let again = try await second.file()
            let kept = contents("\(folder)/here/\(part)").count
            try await again.accept(into: "\(folder)/here")
            #expect(contents(try await again.finished()) == bytes)
            try await sending.finished()
            #expect(listing("\(folder)/here") == ["x"])
            // TLS adds 22 bytes to each record of 16 KiB, HTTP less. Nothing is sent twice.
            #expect(kept > 1_000_000 && wire.passed - passed < (bytes.count - kept) * 102 / 100 + 50_000)
            await a.end()
            await second.end()
        }
    }

    @Test func `a partial file is resumed by a restarted sender, and by another that has it under another name`()
        async throws
    {
        try await withFolder { folder in
            try await withPair { room, a, b in
                let bytes = noise(4_000_000)
                try write(bytes, to: "\(folder)/x")
                try write(bytes, to: "\(folder)/other.bin")
                mkdir("\(folder)/here", 0o700)
                // A file of an earlier process.
                let part = "\(folder)/here/.x.\(SHA256Digest(of: bytes).hex).part"
                try write(Array(bytes.prefix(3_500_000)), to: part)
                let third = try await TestMember(3, in: room)
                let wire = try TestWire(to: b.server.localAddress)
                defer { wire.end() }
                room.enter(b.id, b.identity.fingerprint, at: wire.address)
                // The limit is too small for the whole file.
                wire.cut(after: 600_000)
                let sending = try await third.transfers.sendFile(at: "\(folder)/other.bin", to: [b.id])
                let file = try await b.file()
                #expect(file.member == third.id)
                try await file.accept(into: "\(folder)/here")
                #expect(try await file.finished() == "\(folder)/here/other.bin")
                try await sending.finished()
                #expect(wire.connections == 1 && contents("\(folder)/here/other.bin") == bytes)
                #expect(listing("\(folder)/here") == ["other.bin"])
                await third.end()
            }
        }
    }

    @Test func `a transfer is resumed by a sender restarted midway, and by another that has the same file`()
        async throws
    {
        try await withFolder { folder in
            let room = TestRoom()
            let b = try await TestMember(2, in: room)
            let third = try await TestMember(3, in: room)
            let identity = try Identity.generate(at: 0)
            let bytes = noise(6_000_000)
            try write(bytes, to: "\(folder)/x")
            mkdir("\(folder)/here", 0o700)
            var files: [IncomingFile] = []
            for number in 1...3 {
                let wire = try TestWire(to: b.server.localAddress)
                defer { wire.end() }
                room.enter(b.id, b.identity.fingerprint, at: wire.address)
                let last = number == 3
                let sender = last ? third : try await TestMember(1, in: room, identity: identity)
                let sending = try await sender.transfers.sendFile(at: "\(folder)/x", to: [b.id])
                let file = try await b.file()
                files.append(file)
                if !last { wire.hold(after: 2_000_000) }
                try await file.accept(into: "\(folder)/here")
                if last {
                    #expect(contents(try await file.finished()) == bytes)
                    try await sending.finished()
                    continue
                }
                #expect(await soon { wire.isHolding })
                await sender.end()
            }
            for file in files.dropLast() {
                await #expect(throws: TransferError.withdrawn) { try await file.finished() }
            }
            #expect(listing("\(folder)/here") == ["x"])
            await b.end()
            await third.end()
        }
    }

    @Test func `a damaged partial file is detected, and the transfer starts over`() async throws {
        try await withFolder { folder in
            try await withPair { _, a, b in
                let bytes = noise(1_000_000)
                try write(bytes, to: "\(folder)/x")
                mkdir("\(folder)/here", 0o700)
                let part = "\(folder)/here/.x.\(SHA256Digest(of: bytes).hex).part"
                try write(noise(400_000, seed: 9), to: part)
                let sending = try await a.transfers.sendFile(at: "\(folder)/x", to: [b.id])
                let file = try await b.file()
                try await file.accept(into: "\(folder)/here")
                #expect(contents(try await file.finished()) == bytes)
                try await sending.finished()
            }
        }
    }

    @Test func `a remote peer that stalls for a while is waited for, or called again`() async throws {
        var limits = TransferLimits()
        limits.stall = .milliseconds(300)
        try await withFolder { folder in
            try await withPair(limits: limits) { room, a, b in
                let wire = try TestWire(to: b.server.localAddress)
                defer { wire.end() }
                room.enter(b.id, b.identity.fingerprint, at: wire.address)
                let bytes = noise(30_000_000)
                try write(bytes, to: "\(folder)/x")
                mkdir("\(folder)/here", 0o700)
                let sending = try await a.transfers.sendFile(at: "\(folder)/x", to: [b.id])
                let file = try await b.file()
                try await file.accept(into: "\(folder)/here")
                try await Task.sleep(for: .milliseconds(30))
                wire.hold(true)
                try await Task.sleep(for: .milliseconds(700))
                wire.hold(false)
                #expect(contents(try await file.finished()) == bytes)
                try await sending.finished()
            }
        }
    }
}
