// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import NIOCore
import NIOHTTP1
import Synchronization
import TestTraits
import Testing

@testable import EarshotNearby

/// Streams of bytes between members.
@Suite(.realTime(leastStandstill: 1), .timeLimit(.minutes(1))) struct TransferStreamTests {
    private static let name = try! PeerName("midi clock / ä")

    private static func all(_ stream: IncomingStream) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await piece in stream { bytes += piece }
        return bytes
    }

    @Test func `a stream is read in order, and finish waits until all of it was read`() async throws {
        try await withPair { _, a, b in
            let stream = try await a.transfers.openStream(named: Self.name, to: b.id)
            async let incoming = b.stream()
            let bytes = noise(1_000_000)
            async let writing: Void = {
                var rest = bytes[...]
                for size in [1, 0, 70_000, 65_536, 300_000] {
                    try await stream.write(Array(rest.prefix(size)))
                    rest = rest.dropFirst(size)
                }
                try await stream.write(Array(rest))
                try await stream.finish()
            }()
            let found = try await incoming
            #expect(found.name == Self.name)
            #expect(try await Self.all(found) == bytes)
            try await writing
            await #expect(throws: TransferError.closed) { try await stream.write([1]) }
        }
    }

    @Test func `a reader that waits gets each piece as soon as it is written`() async throws {
        try await withPair { _, a, b in
            let stream = try await a.transfers.openStream(named: Self.name, to: b.id)
            let incoming = try await b.stream()
            var reader = incoming.makeAsyncIterator()
            for number in 0..<50 {
                if number.isMultiple(of: 2) {
                    async let piece = incoming.makeAsyncIterator().nextPiece()
                    try await Task.sleep(for: .milliseconds(1))
                    try await stream.write([UInt8(number)])
                    #expect(try await piece == [UInt8(number)])
                } else {
                    try await stream.write([UInt8(number)])
                    #expect(try await reader.next() == [UInt8(number)])
                }
            }
            async let finishing: Void = stream.finish()
            #expect(try await reader.next() == nil)
            #expect(try await reader.next() == nil)
            try await finishing
        }
    }

    @Test func `a reader that stops suspends the writer, and can continue later`() async throws {
        try await withPair { _, a, b in
            let stream = try await a.transfers.openStream(named: Self.name, to: b.id)
            let incoming = try await b.stream()
            let written = Counter()
            let piece = noise(65_536)
            let writing = Task {
                for _ in 0..<512 {
                    try await stream.write(piece)
                    written.add(1)
                }
                try await stream.finish()
            }
            var last = -1
            while written.value != last || last == 0 {
                last = written.value
                try await Task.sleep(for: .milliseconds(300))
            }
            // The two kernels' sockets hold at most 16 MiB.
            #expect(last < 256)
            let bytes = try await Self.all(incoming)
            #expect(bytes.count == 512 * 65_536)
            #expect(Array(bytes.prefix(65_536)) == piece && Array(bytes.suffix(65_536)) == piece)
            try await writing.value
        }
    }

    @Test func `a receiver that never reads only makes the writer wait, which can be cancelled`() async throws {
        try await withPair { _, a, b in
            let stream = try await a.transfers.openStream(named: Self.name, to: b.id)
            let incoming = try await b.stream()
            let piece = noise(65_536)
            let writing = Task { while true { try await stream.write(piece) } }
            let finishing = Task {
                try await Task.sleep(for: .milliseconds(200))
                try await stream.finish()
            }
            try await Task.sleep(for: .milliseconds(400))
            finishing.cancel()
            await #expect(throws: TransferError.cancelled) { try await finishing.value }
            await #expect(throws: TransferError.self) { try await writing.value }
            await #expect(throws: TransferError.cut) { _ = try await Self.all(incoming) }
        }
    }

    @Test func `a cut connection is an error on both sides, not the end of the stream`() async throws {
        try await withPair { room, a, b in
            let wire = try TestWire(to: b.server.localAddress)
            defer { wire.end() }
            room.enter(b.id, b.identity.fingerprint, at: wire.address)
            let stream = try await a.transfers.openStream(named: Self.name, to: b.id)
            try await stream.write([1, 2, 3])
            let incoming = try await b.stream()
            var reader = incoming.makeAsyncIterator()
            #expect(try await reader.next() == [1, 2, 3])
            wire.cutNow()
            await #expect(throws: TransferError.cut) { try await reader.next() }
            await #expect(throws: TransferError.cut) { while true { try await stream.write([4]) } }
            await #expect(throws: TransferError.cut) { try await stream.finish() }
        }
    }

    @Test func `a stream is cut when its writer releases or cancels it`() async throws {
        try await withPair { _, a, b in
            for isCancelled in [false, true] {
                var stream: OutgoingStream? = try await a.transfers.openStream(named: Self.name, to: b.id)
                try await stream?.write([1])
                let incoming = try await b.stream()
                if isCancelled { stream?.cancel() }
                stream = nil
                var reader = incoming.makeAsyncIterator()
                await #expect(throws: TransferError.cut) { while try await reader.next() != nil {} }
            }
        }
    }

    @Test func `a writer is notified when the reader cancels or releases the stream`() async throws {
        try await withPair { _, a, b in
            for isCancelled in [false, true] {
                let stream = try await a.transfers.openStream(named: Self.name, to: b.id)
                var incoming: IncomingStream? = try await b.stream()
                if isCancelled { incoming?.cancel() }
                incoming = nil
                await #expect(throws: TransferError.closed) { while true { try await stream.write(noise(1_000)) } }
            }
        }
    }

    @Test func `parallel streams are not blocked by one that is not read`() async throws {
        try await withPair { _, a, b in
            let idle = try await a.transfers.openStream(named: Self.name, to: b.id)
            let unread = try await b.stream()
            let stuck = Task { while true { try await idle.write(noise(65_536)) } }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<6 {
                    group.addTask {
                        let stream = try await a.transfers.openStream(named: PeerName("\(number)"), to: b.id)
                        try await stream.write(noise(500_000, seed: UInt64(number) + 1))
                        try await stream.finish()
                    }
                    group.addTask {
                        let incoming = try await b.stream()
                        let number = UInt64(incoming.name.text) ?? 99
                        let bytes = try await Self.all(incoming)
                        #expect(bytes == noise(500_000, seed: number + 1))
                    }
                }
                try await group.waitForAll()
            }
            unread.cancel()
            await #expect(throws: TransferError.closed) { try await stuck.value }
        }
    }

    @Test func `the number of open streams is limited, and ending one allows another`() async throws {
        var limits = TransferLimits()
        limits.streamsPerMember = 2
        try await withPair(limits: limits) { _, a, b in
            var streams: [OutgoingStream] = []
            var incoming: [IncomingStream] = []
            for _ in 0..<2 {
                streams.append(try await a.transfers.openStream(named: Self.name, to: b.id))
                incoming.append(try await b.stream())
            }
            let third = try await a.transfers.openStream(named: Self.name, to: b.id)
            await #expect(throws: TransferError.busy) { try await third.finish() }
            streams[0].cancel()
            #expect(await soon { b.transfers.openStreams.withLock { $0[a.id] } == 1 })
            let fourth = try await a.transfers.openStream(named: Self.name, to: b.id)
            let last = try await b.stream()
            async let finishing: Void = fourth.finish()
            #expect(try await Self.all(last) == [])
            try await finishing
        }
    }

    @Test func `an invalid stream name and a former member are refused`() async throws {
        try await withPair { room, a, b in
            let client = try a.client(of: b)
            for path in [
                "/streams/%00", "/streams/" + String(repeating: "x", count: 64), "/streams/%20", "/streams/a%0Ab",
            ] {
                #expect(try await client.send(.POST, path, content: .text("x")).head.status == .badRequest)
            }
            #expect(try await client.send(.GET, "/streams/x").head.status == .methodNotAllowed)
            #expect(try await client.send(.POST, "/streams", content: .text("x")).head.status == .notFound)
            room.leave(b.id)
            await #expect(throws: TransferError.gone) { try await a.transfers.openStream(named: Self.name, to: b.id) }
        }
    }

    @Test func `streams are cut when a member leaves the room`() async throws {
        try await withPair { room, a, b in
            let stream = try await a.transfers.openStream(named: Self.name, to: b.id)
            let incoming = try await b.stream()
            room.leave(a.id)
            b.transfers.ended(with: a.id)
            await #expect(throws: TransferError.cut) { _ = try await Self.all(incoming) }
            await #expect(throws: TransferError.self) { while true { try await stream.write([1]) } }
        }
    }
}

extension IncomingStream.AsyncIterator {
    fileprivate func nextPiece() async throws -> [UInt8]? {
        var iterator = self
        return try await iterator.next()
    }
}
