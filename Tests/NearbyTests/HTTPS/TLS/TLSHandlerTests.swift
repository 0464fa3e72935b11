// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOTLS
import TestTraits
import Testing

@testable import EarshotNearby

/// The handler in a pipeline without a network, with an engine as its peer.
@Suite(.realTime(leastStandstill: 1), .timeLimit(.minutes(1))) struct TLSHandlerTests {
    @Test(arguments: TLSVersion.allCases)
    func `the next handler is notified of the handshake once, and then receives content`(version: TLSVersion) throws {
        for role in [TLSContext.Role.client, .server] {
            let line = try TLSLine(role, version)
            line.exchange()
            #expect(line.above.events == ["handshake http/1.1"])
            #expect(line.handler?.peerKey == (role == .client ? TestIdentity.server : .client).publicKey)
            line.peer.write(Array("hello".utf8))
            line.exchange()
            #expect(line.above.events == ["handshake http/1.1", "read hello", "complete"])
        }
    }

    @Test func `data written before the handshake is done is sent after it, in order`() throws {
        let line = try TLSLine(.client)
        var kept: [Int] = []
        for number in 0..<3 {
            line.write("\(number)").assumeIsolated().whenSuccess { kept.append(number) }
        }
        line.channel.flush()
        line.write("not flushed").assumeIsolated().whenSuccess { kept.append(3) }
        #expect(line.exchange() == Array("012".utf8) && kept == [])
        line.below.keepPromises()
        #expect(kept == [0, 1, 2])
        line.channel.flush()
        #expect(line.exchange() == Array("not flushed".utf8))
    }

    @Test func `writes that are flushed together are sent as one record in one write`() throws {
        let line = try TLSLine.established()
        var kept: [Int] = []
        for number in 0..<100 {
            line.write(number.isMultiple(of: 7) ? "" : "\(number) ").assumeIsolated().whenSuccess {
                kept.append(number)
            }
        }
        #expect(line.below.written.isEmpty)
        line.channel.flush()
        #expect(line.below.written.count == 1)
        #expect(records(line.below.written.flatMap { Array($0.readableBytesView) }).count == 1)
        #expect(line.exchange().count == (0..<100).reduce(0) { $0 + ($1 % 7 == 0 ? 0 : "\($1) ".count) })
        line.below.keepPromises()
        #expect(kept == Array(0..<100))
    }

    @Test func `a large flush is encrypted in pieces, and each promise waits for its own piece`() throws {
        let line = try TLSLine.established()
        let piece = String(repeating: "x", count: 60_000)
        var kept: [Int] = []
        for number in 0..<5 { line.write(piece).assumeIsolated().whenSuccess { kept.append(number) } }
        line.channel.flush()
        #expect(line.below.written.count == 3)
        line.below.keepPromises(1)
        #expect(kept == [0, 1])
        line.below.keepPromises()
        #expect(kept == [0, 1, 2, 3, 4] && line.exchange().count == 300_000)
    }

    @Test func `the promise of an empty write is fulfilled in order`() throws {
        let line = try TLSLine.established()
        var kept: [String] = []
        line.write("first").assumeIsolated().whenSuccess { kept.append("first") }
        line.channel.flush()
        line.write("").assumeIsolated().whenSuccess { kept.append("nothing") }
        line.channel.flush()
        #expect(kept.isEmpty)
        line.below.keepPromises()
        #expect(kept == ["first", "nothing"])
    }

    @Test func `bytes are read only while the next handler waits for content`() throws {
        let line = try TLSLine(.client)
        line.exchange()
        // A TLS 1.3 server's tickets have arrived by now; they are not content.
        line.below.reads = 0
        line.deliver([])
        #expect(line.below.reads == 0)
        line.channel.read()
        #expect(line.below.reads == 1)
        line.peer.write([7])
        let record = line.peer.takeOutput()
        line.deliver(record.dropLast())
        #expect(line.below.reads == 2)
        line.deliver(record.suffix(1))
        #expect(line.below.reads == 2 && line.above.events.suffix(2) == ["read \u{7}", "complete"])
        line.deliver([])
        #expect(line.below.reads == 2)
    }

    @Test func `the handshake reads without being asked to`() throws {
        let line = try TLSLine(.server)
        let hello = line.peer.takeOutput()
        line.deliver(hello.prefix(100))
        line.deliver(hello.dropFirst(100))
        #expect(line.below.reads == 2)
    }

    @Test func `a failure is reported, sends an alert, and closes the channel`() throws {
        let line = try TLSLine.established()
        let promise = line.write("never flushed")
        line.deliver([23, 3, 3, 0xFF, 0xFF])
        #expect(line.above.events.last == "inactive")
        #expect(line.above.errors.count == 1 && line.handler?.engine?.state.brokenWords != nil)
        #expect(throws: TLSError.self) { try promise.wait() }
        line.exchange()
        #expect(line.peer.state.brokenWords?.contains("alert") == true)
    }

    @Test func `content received before a failure is delivered`() throws {
        let line = try TLSLine.established()
        line.peer.write(Array("good".utf8))
        line.deliver(line.peer.takeOutput() + [23, 3, 3, 0xFF, 0xFF])
        #expect(line.above.events.suffix(4) == ["read good", "complete", "error", "inactive"])
    }

    @Test func `the error of the key check is the one reported`() throws {
        struct Stranger: Error {}
        let line = try TLSLine(.client) { _ in Stranger() }
        let promise = line.write("secret")
        line.channel.flush()
        #expect(line.exchange().isEmpty)
        #expect(line.above.errors.count == 1 && line.above.errors.first is Stranger)
        #expect(throws: Stranger.self) { try promise.wait() }
        #expect(!line.channel.isActive && line.handler?.peerKey == nil)
    }

    @Test func `the engine is freed with its handler`() throws {
        weak var engine: TLSEngine?
        weak var handler: TLSHandler?
        do {
            let line = try TLSLine.established()
            (handler, engine) = (line.handler, line.handler?.engine)
            #expect(engine != nil)
            line.peer.close()
            line.exchange()
            line.channel.embeddedEventLoop.run()
            #expect(engine == nil)
        }
        #expect(handler == nil)
    }
}
