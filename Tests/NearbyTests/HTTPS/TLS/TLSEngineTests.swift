// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL
import TestSupport
import Testing

@testable import EarshotNearby

/// Two engines, and an engine with OpenSSL, without a network.
@Suite(.timeLimit(.minutes(10))) struct TLSEngineTests {
    @Test(arguments: TLSVersion.allCases)
    func `both sides know the other's key, the protocol and the TLS version`(version: TLSVersion) throws {
        let pair = try TLSPair(version)
        #expect(pair.client.peerKey == nil && !pair.client.hasEstablished)
        #expect(pair.exchange() == ([], []))
        #expect(pair.client.state == .established && pair.server.state == .established)
        #expect(pair.client.peerKey == TestIdentity.server.publicKey)
        #expect(pair.server.peerKey == TestIdentity.client.publicKey)
        for side in [pair.client, pair.server] {
            #expect(side.applicationProtocol == "http/1.1" && side.version == version.name)
        }
    }

    @Test(arguments: TLSVersion.allCases)
    func `a rejected key ends the handshake on both sides`(version: TLSVersion) throws {
        var shown: [UInt8]?
        let pair = try TLSPair(version) {
            shown = $0
            return false
        }
        #expect(pair.exchange() == ([], []))
        #expect(shown == TestIdentity.server.publicKey)
        #expect(pair.client.state == .failed(.handshakeFailed("certificate verify failed")))
        #expect(pair.server.state.handshakeWords?.contains("alert") == true)
        #expect(!pair.client.hasEstablished && !pair.server.hasEstablished && pair.client.peerKey == nil)
    }

    @Test(arguments: TLSVersion.allCases)
    func `data may arrive one byte at a time`(version: TLSVersion) throws {
        let pair = try TLSPair(version)
        var (toClient, toServer): ([UInt8], [UInt8]) = ([], [])
        var hasWritten = false
        while pair.client.outputSize > 0 || pair.server.outputSize > 0 {
            for byte in pair.client.takeOutput() { toServer += pair.server.receive([byte]) }
            for byte in pair.server.takeOutput() { toClient += pair.client.receive([byte]) }
            if pair.client.state == .established, pair.server.state == .established, !hasWritten {
                hasWritten = true
                pair.client.write(Array("question".utf8))
                pair.server.write(Array("answer".utf8))
            }
        }
        #expect(toServer == Array("question".utf8) && toClient == Array("answer".utf8))
    }

    @Test func `each handshake flight may be split at any byte`() throws {
        let whole = try TLSPair()
        let hello = whole.client.takeOutput().count
        for cut in 0...hello {
            let pair = try TLSPair()
            let bytes = pair.client.takeOutput()
            #expect(pair.server.receive(bytes.prefix(cut)).isEmpty && pair.server.state == .handshaking)
            #expect((pair.server.outputSize > 0) == (cut == bytes.count))
            #expect(pair.server.receive(bytes.dropFirst(cut)).isEmpty)
            _ = pair.exchange()
            #expect(pair.server.state == .established && pair.client.state == .established, "cut at \(cut)")
        }
        let pair = try TLSPair()
        _ = pair.server.receive(pair.client.takeOutput())
        var cutCount = 0
        for cut in 0..<pair.server.outputSize {
            let pair = try TLSPair()
            _ = pair.server.receive(pair.client.takeOutput())
            let bytes = pair.server.takeOutput()
            _ = pair.client.receive(bytes.prefix(cut))
            // Signatures differ in length.
            guard cut < bytes.count else { continue }
            cutCount += 1
            #expect(pair.client.state == .handshaking && pair.client.endFailure == .endedInHandshake)
            _ = pair.client.receive(bytes.dropFirst(cut))
            _ = pair.exchange()
            #expect(pair.server.state == .established && pair.client.state == .established, "cut at \(cut)")
        }
        #expect(cutCount > pair.server.outputSize / 2)
    }

    @Test(arguments: TLSVersion.allCases)
    func `a record may be split at any byte, and yields no content before it is complete`(version: TLSVersion) throws {
        let pair = try TLSPair.established(version)
        let content = [UInt8](0..<100)
        pair.client.write(content)
        var record = pair.client.takeOutput()
        for cut in 0...record.count {
            let first = pair.server.receive(record.prefix(cut))
            #expect(first == (cut == record.count ? content : []))
            #expect(first + pair.server.receive(record.dropFirst(cut)) == content)
            #expect(pair.server.endFailure == .truncated)
            pair.client.write(content)
            record = pair.client.takeOutput()
        }
    }

    @Test(arguments: TLSVersion.allCases)
    func `megabytes are transferred in both directions, in pieces of any size`(version: TLSVersion) throws {
        let pair = try TLSPair.established(version)
        var random = SeededRandom(seed: 19)
        let sent = (0..<2).map { _ in (0..<6_000_000).map { _ in UInt8.random(in: 0...255, using: &random) } }
        let sides = [pair.client, pair.server]
        var rest = sent.map { $0[...] }
        var received: [[UInt8]] = [[], []]
        var onTheWay: [[UInt8]] = [[], []]
        while received.map(\.count) != sent.map(\.count) {
            let from = Int.random(in: 0...1, using: &random)
            let count = Int.random(in: 0...70_000, using: &random)
            sides[from].write(Array(rest[from].prefix(count)))
            rest[from] = rest[from].dropFirst(count)
            onTheWay[from] += sides[from].takeOutput()
            let arriving =
                rest[from].isEmpty ? onTheWay[from].count : Int.random(in: 0...onTheWay[from].count, using: &random)
            received[from] += sides[1 - from].receive(onTheWay[from].prefix(arriving))
            onTheWay[from].removeFirst(arriving)
        }
        #expect(received == sent && pair.client.state == .established && pair.server.state == .established)
    }

    @Test(arguments: TLSVersion.allCases)
    func `a close_notify ends the connection cleanly, and its absence is a truncation`(version: TLSVersion) throws {
        let pair = try TLSPair.established(version)
        pair.client.write(Array("all".utf8))
        #expect(pair.exchange().toServer == Array("all".utf8))
        #expect(pair.server.endFailure == .truncated)
        pair.client.write(Array("last".utf8))
        pair.client.close()
        pair.client.close()
        #expect(pair.client.hasClosed)
        let bytes = pair.client.takeOutput()
        #expect(records(bytes).count == 2)
        for count in 0..<bytes.count {
            let other = try TLSPair.established(version)
            other.client.write(Array("last".utf8))
            other.client.close()
            _ = other.server.receive(other.client.takeOutput().prefix(count))
            #expect(other.server.endFailure == .truncated)
        }
        #expect(pair.server.receive(bytes + [23, 3, 3, 0xFF, 0xFF]) == Array("last".utf8))
        #expect(pair.server.state == .peerClosed && pair.server.endFailure == nil)
        // The other direction is still open.
        pair.server.write(Array("answer".utf8))
        #expect(pair.exchange().toClient == Array("answer".utf8))
        pair.server.close()
        _ = pair.exchange()
        #expect(pair.client.state == .peerClosed)
    }

    @Test func `closing before the handshake is done sends no close_notify`() throws {
        let pair = try TLSPair()
        _ = pair.client.takeOutput()
        pair.client.close()
        #expect(pair.client.outputSize == 0 && !pair.client.hasClosed)
        #expect(pair.client.endFailure == .endedInHandshake)
        // A close_notify instead of an answer.
        #expect(pair.client.receive([21, 3, 3, 0, 2, 1, 0]).isEmpty && pair.client.state == .failed(.endedInHandshake))
    }

    @Test func `stale errors in OpenSSL's queue do not affect the engine`() throws {
        func leaveError() {
            #expect(BIO_new_file("/nowhere", "r") == nil)
            #expect(ERR_peek_error() != 0)
        }
        let pair = try TLSPair()
        for (from, to) in [(pair.client, pair.server), (pair.server, pair.client), (pair.client, pair.server)] {
            leaveError()
            let bytes = from.takeOutput()
            leaveError()
            _ = to.receive(bytes)
        }
        leaveError()
        pair.client.write([1])
        let record = pair.client.takeOutput()
        leaveError()
        #expect(pair.server.receive(record) == [1] && pair.server.state == .established)
        leaveError()
        pair.client.close()
        #expect(ERR_peek_error() == 0)
    }

    @Test(arguments: TLSVersion.allCases)
    func `a resumed session has the same peer key`(version: TLSVersion) throws {
        let context = try TLSContext.make(.server, .server, version)
        let first = RawTLSPeer(.client, version, .client)
        let engine = try TLSEngine(context) { _ in true }
        _ = first.exchange(with: engine)
        let session = SSL_get1_session(first.ssl)
        defer { SSL_SESSION_free(session) }
        let second = RawTLSPeer(.client, version, .client)
        SSL_set_session(second.ssl, session)
        let resumed = try TLSEngine(context) { _ in false }
        _ = second.exchange(with: resumed)
        #expect(SSL_session_reused(second.ssl) == 1 && resumed.state == .established)
        #expect(resumed.peerKey == TestIdentity.client.publicKey)
    }
}
