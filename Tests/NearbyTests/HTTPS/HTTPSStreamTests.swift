// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import NIOCore
import NIOHTTP1
import Synchronization
import TestTraits
import Testing

@testable import EarshotNearby

/// Streams whose sender or receiver leaves or stops in the middle.
@Suite(.realTime(leastStandstill: 1), .timeLimit(.minutes(1))) struct HTTPSStreamTests {
    @Test func `a thousand events arrive in order`() async throws {
        try await withServer { _ in
            .events { writer in
                for number in 0..<1_000 {
                    try await writer.write(
                        ServerSentEvent(id: "\(number)", name: "roster", data: "{\n\"n\": \(number)\n}").bytes)
                }
            }
        } _: { server async throws in
            let items = try await client(of: server).send(.GET, "/room/events", timeout: nil) { answer in
                #expect(answer.headers.first(name: "content-type") == "text/event-stream")
                var parser = EventStreamParser()
                var items: [EventStreamParser.Item] = []
                for try await piece in answer.body { items += try parser.parse(piece.readableBytesView) }
                return items
            }
            let sent = (0..<1_000).map { ServerSentEvent(id: "\($0)", name: "roster", data: "{\n\"n\": \($0)\n}") }
            #expect(items == sent.map { .event($0) })
        }
    }

    @Test func `each event arrives when it is written, not when the stream ends`() async throws {
        let heard = AsyncStream<Void>.makeStream()
        try await withServer { _ in
            .events { writer in
                var turns = heard.stream.makeAsyncIterator()
                for number in 0..<3 {
                    try await writer.write(ServerSentEvent(data: "\(number)").bytes)
                    await turns.next()
                }
            }
        } _: { server async throws in
            let count = try await client(of: server).send(.GET, "/", timeout: nil) { answer in
                var count = 0
                for try await _ in answer.body {
                    count += 1
                    heard.continuation.yield()
                }
                return count
            }
            #expect(count == 3)
        }
    }

    @Test func `a client that stops reading suspends the server's writer`() async throws {
        let written = Tally()
        try await withServer { _ in
            HTTPResponse(
                content: .stream { writer in
                    let piece = [UInt8](repeating: 7, count: 65_536)
                    while true {
                        try await writer.write(piece)
                        await written.add()
                    }
                })
        } _: { server async throws in
            try await client(of: server).send(.GET, "/", timeout: nil) { answer in
                var pieces = answer.body.makeAsyncIterator()
                _ = try await pieces.next()
                let count = try await Self.settled(written)
                // The two kernels' sockets hold at most 16 MiB.
                #expect(count < 256)
                var read = 0
                while read < 2 * count * 65_536, let piece = try await pieces.next() { read += piece.readableBytes }
                #expect(await soon { await written.count > count })
            }
        }
    }

    @Test func `a handler that stops reading suspends the client's writer`() async throws {
        let written = Tally()
        let go = AsyncStream<Void>.makeStream()
        try await withServer { request in
            var pieces = request.body.makeAsyncIterator()
            var count = try await pieces.next()?.readableBytes ?? 0
            var turns = go.stream.makeAsyncIterator()
            await turns.next()
            while let piece = try await pieces.next() { count += piece.readableBytes }
            return HTTPResponse(content: .text("\(count)"))
        } _: { server async throws in
            let content = HTTPContent.stream { writer in
                for _ in 0..<1_024 {
                    try await writer.write([UInt8](repeating: 7, count: 65_536))
                    await written.add()
                }
            }
            async let answer = client(of: server).send(.POST, "/streams/a", content: content, timeout: nil)
            #expect(try await Self.settled(written) < 256)
            go.continuation.yield()
            #expect(String(decoding: try await answer.body, as: UTF8.self) == "\(1_024 * 65_536)")
        }
    }

    @Test func `a handler is cancelled when its client disconnects`() async throws {
        let seen = Tally()
        try await withServer { request in
            await seen.note("called")
            do {
                try await Task.sleep(for: .seconds(600))
            } catch {
                await seen.note("cancelled")
                throw error
            }
            return HTTPResponse()
        } _: { server async throws in
            let client = try client(of: server)
            let request = Task { try await client.send(.GET, "/") }
            #expect(await soon { await seen.words == ["called"] })
            request.cancel()
            #expect(await soon { await seen.words == ["called", "cancelled"] })
            await #expect(throws: CancellationError.self) { try await request.value }
            #expect(await soon { server.table.count == 0 })
        }
    }

    @Test func `an event writer ends when its client disconnects`() async throws {
        let ended = Tally()
        try await withServer { _ in
            .events { writer in
                do {
                    while true {
                        try await writer.write(ServerSentEvent.keepAlive)
                        try await Task.sleep(for: .milliseconds(1))
                    }
                } catch {
                    await ended.add()
                    throw error
                }
            }
        } _: { server async throws in
            try await client(of: server).send(.GET, "/", timeout: nil) { answer in
                for try await _ in answer.body { break }
            }
            #expect(await soon { await ended.count == 1 })
        }
    }

    @Test func `stopping the server ends open streams and lets short requests finish`() async throws {
        let asked = Tally()
        var limits = HTTPSLimits()
        limits.grace = .milliseconds(100)
        let server = try await HTTPSServer(
            address: .loopback, port: 0, identity: TestIdentity.server.identity, limits: limits)
        let running = Task {
            await server.run { request in
                await asked.add()
                guard request.target.path == "/short" else {
                    return .events { _ in try await Task.sleep(for: .seconds(600)) }
                }
                while !server.table.isStopping { try await Task.sleep(for: .milliseconds(1)) }
                return HTTPResponse(status: .accepted)
            }
        }
        let client = try client(of: server)
        let streams = (0..<5).map { _ in
            Task { try await client.send(.GET, "/", timeout: nil) { for try await _ in $0.body {} } }
        }
        async let short = client.send(.GET, "/short").head.status
        #expect(await soon { await asked.count == 6 })
        server.stop()
        await running.value
        #expect(try await short == .accepted)
        for stream in streams {
            await #expect(throws: HTTPSError.cut(server.localAddress)) { try await stream.value }
        }
        #expect(server.table.count == 0)
        await #expect(throws: HTTPSError.connectionRefused(server.localAddress)) { try await client.send(.GET, "/") }
    }

    @Test func `cancelling a server's task stops it and cuts its streams`() async throws {
        let server = try await HTTPSServer(address: .loopback, port: 0, identity: TestIdentity.server.identity)
        let asked = Tally()
        let running = Task {
            await server.run { _ in
                await asked.add()
                return .events { _ in try await Task.sleep(for: .seconds(600)) }
            }
        }
        let client = try client(of: server)
        let stream = Task { try await client.send(.GET, "/", timeout: nil) { for try await _ in $0.body {} } }
        #expect(await soon { await asked.count == 1 })
        running.cancel()
        await running.value
        await #expect(throws: HTTPSError.cut(server.localAddress)) { try await stream.value }
    }

    @Test func `a stream whose writer fails is cut, and does not look complete`() async throws {
        struct Failure: Error, Equatable {}
        try await withServer { request in
            if request.method == .POST { _ = try await request.body.collect(upTo: 100) }
            return HTTPResponse(
                content: .stream {
                    try await $0.write(Array("half".utf8))
                    throw Failure()
                })
        } _: { server async throws in
            let client = try client(of: server)
            await #expect(throws: HTTPSError.cut(server.localAddress)) { try await client.send(.GET, "/") }
            await #expect(throws: Failure()) {
                try await client.send(
                    .POST, "/",
                    content: .stream {
                        try await $0.write(Array("half".utf8))
                        throw Failure()
                    })
            }
        }
    }

    @Test func `a timeout is distinguished from a closed connection`() async throws {
        try await withServer { _ in
            try await Task.sleep(for: .seconds(600))
            return HTTPResponse()
        } _: { server async throws in
            let client = try client(of: server)
            await #expect(throws: HTTPSError.timedOut(server.localAddress)) {
                try await client.send(.GET, "/", timeout: .milliseconds(100))
            }
        }
    }

    /// Returns the number once it has stopped growing.
    private static func settled(_ tally: Tally) async throws -> Int {
        var last = -1
        while true {
            let count = await tally.count
            if count == last, count > 0 { return count }
            last = count
            try await Task.sleep(for: .milliseconds(300))
        }
    }
}
