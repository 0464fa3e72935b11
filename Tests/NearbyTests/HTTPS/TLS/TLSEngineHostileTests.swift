// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL
import TestSupport
import Testing

@testable import EarshotNearby

/// An engine with a faulty peer.
@Suite(.timeLimit(.minutes(10))) struct TLSEngineHostileTests {
    @Test(arguments: ["GET / HTTP/1.1\r\n\r\n", "220 ready\r\n", "\u{16}\u{02}", "\u{17}\u{03}\u{03}\u{0}\u{1}x"])
    func `input that is not TLS is recognized from its first bytes, and not answered`(text: String) throws {
        for pieces in [[Array(text.utf8)], text.utf8.map { [$0] }] {
            let pair = try TLSPair()
            _ = pair.client.takeOutput()
            for piece in pieces {
                #expect(pair.server.receive(piece).isEmpty && pair.client.receive(piece).isEmpty)
            }
            #expect(pair.server.state == .failed(.notTLS) && pair.server.outputSize == 0)
            #expect(pair.client.state == .failed(.notTLS) && pair.client.outputSize == 0)
        }
    }

    @Test(arguments: TLSVersion.allCases)
    func `a record with any single bit flipped yields no content`(version: TLSVersion) throws {
        let size = try sealed(version).record.count
        for bit in 0..<size * 8 {
            var (pair, record) = try sealed(version)
            record[bit / 8] ^= 1 << (bit % 8)
            #expect(pair.server.receive(record).isEmpty, "bit \(bit)")
            // With a larger length it waits for more.
            if pair.server.state == .established {
                #expect((24..<40).contains(bit) && pair.server.endFailure == .truncated, "bit \(bit)")
            }
        }
        let (pair, record) = try sealed(version)
        var wrong = record
        wrong[record.count - 1] ^= 1
        _ = pair.server.receive(wrong)
        #expect(pair.server.state.brokenWords != nil && pair.server.outputSize > 0)
        // A failed engine delivers no content.
        #expect(pair.server.receive(record).isEmpty && pair.server.endFailure == nil)
        _ = pair.client.receive(pair.server.takeOutput())
        #expect(pair.client.state.brokenWords?.contains("bad record mac") == true)
    }

    private func sealed(_ version: TLSVersion) throws -> (pair: TLSPair, record: [UInt8]) {
        let pair = try TLSPair.established(version)
        pair.client.write([1, 2, 3])
        return (pair, pair.client.takeOutput())
    }

    @Test(arguments: TLSVersion.allCases)
    func `a handshake with any single byte changed does not succeed`(version: TLSVersion) throws {
        let whole = try TLSPair(version)
        _ = whole.server.receive(whole.client.takeOutput())
        let size = whole.server.outputSize
        var changedCount = 0
        for place in 0..<size {
            let pair = try TLSPair(version)
            _ = pair.server.receive(pair.client.takeOutput())
            var bytes = pair.server.takeOutput()
            guard place < bytes.count else { continue }
            // The second byte of an unencrypted record's version has no meaning (RFC 8446, 5.1).
            if records(bytes).contains(where: { $0[$0.startIndex] != 23 && $0.startIndex + 2 == place }) { continue }
            bytes[place] ^= 0x55
            changedCount += 1
            _ = pair.client.receive(bytes)
            _ = pair.exchange()
            #expect(!pair.client.hasEstablished || !pair.server.hasEstablished, "byte \(place)")
        }
        #expect(changedCount > size / 2)
    }

    @Test(arguments: TLSVersion.allCases)
    func `a record that is too long is rejected at its header`(version: TLSVersion) throws {
        let pair = try TLSPair.established(version)
        #expect(pair.server.receive([23, 3, 3, 0x48, 0x01]).isEmpty)
        #expect(pair.server.state.brokenWords?.contains("length too long") == true)
        let fresh = try TLSPair(version)
        #expect(fresh.server.receive([22, 3, 1, 0xFF, 0xFF]).isEmpty)
        #expect(fresh.server.state.handshakeWords != nil)
    }

    @Test func `a handshake that never ends is rejected once it is too long`() throws {
        let pair = try TLSPair()
        // A ClientHello of 131,000 bytes in records of 16,000, which OpenSSL itself would accept.
        var bytes: [UInt8] = [1, 0x01, 0xFF, 0xB8, 3, 3] + [UInt8](repeating: 7, count: 15_994)
        var count = 0
        while pair.server.state == .handshaking, count < 131_000 {
            _ = pair.server.receive([22, 3, 1, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes)
            count += bytes.count
            bytes = [UInt8](repeating: 7, count: 16_000)
        }
        #expect(pair.server.state == .failed(.handshakeFailed("handshake too long")))
        #expect(count <= TLSEngine.handshakeCapacity + 16_000)
    }

    @Test func `KeyUpdates are answered, and content keeps flowing`() throws {
        for role in [TLSContext.Role.client, .server] {
            let (peer, engine) = try raw(role, .v1_3)
            for number in 0..<200 as Range<UInt8> {
                #expect(SSL_key_update(peer.ssl, SSL_KEY_UPDATE_REQUESTED) == 1)
                // Alone, or together with content.
                if number.isMultiple(of: 2) {
                    peer.shakeHands()
                    #expect(engine.receive(peer.takeOutput()).isEmpty)
                }
                peer.write([number])
                engine.write([number, number])
                let (toPeer, toEngine) = peer.exchange(with: engine)
                #expect(toEngine == [number] && toPeer == [number, number])
            }
            #expect(engine.state == .established)
        }
    }

    @Test func `too many KeyUpdates without content are rejected as a flood`() throws {
        let (peer, engine) = try raw(.client, .v1_3)
        var count = 0
        while engine.state == .established, count < 1_000 {
            #expect(SSL_key_update(peer.ssl, SSL_KEY_UPDATE_REQUESTED) == 1)
            peer.shakeHands()
            _ = engine.receive(peer.takeOutput())
            count += 1
        }
        #expect(engine.state == .failed(.flooded))
        #expect((10...100).contains(count) && engine.outputSize < 2 * TLSEngine.replyCapacity)
    }

    @Test(arguments: [TLSContext.Role.client, .server])
    func `TLS renegotiation is refused by either side`(role: TLSContext.Role) throws {
        let (peer, engine) = try raw(role, .v1_2)
        let handshakes = SSL_get_finished(peer.ssl, nil, 0)
        #expect(SSL_renegotiate(peer.ssl) == 1)
        peer.shakeHands()
        #expect(engine.receive(peer.takeOutput()).isEmpty && engine.state == .established)
        // Our answer is a warning, in one record that is not part of a handshake.
        let answer = engine.takeOutput()
        #expect(records(answer).map(\.first) == [21])
        peer.take(answer)
        peer.shakeHands()
        #expect(SSL_get_finished(peer.ssl, nil, 0) == handshakes)
        #expect(engine.peerKey == (role == .client ? TestIdentity.client.publicKey : TestIdentity.server.publicKey))
    }

    /// OpenSSL as client or server, connected to an engine, after the handshake.
    private func raw(_ role: TLSContext.Role, _ version: TLSVersion) throws -> (RawTLSPeer, TLSEngine) {
        let peer = RawTLSPeer(role, version, role == .client ? .client : .server)
        let context = try TLSContext.make(
            role == .client ? .server : .client, role == .client ? .server : .client, version)
        let engine = try TLSEngine(context) { _ in true }
        engine.start()
        _ = peer.exchange(with: engine)
        #expect(engine.state == .established && SSL_is_init_finished(peer.ssl) == 1)
        return (peer, engine)
    }
}
