// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotMediaTransport

/// Complete transports between endpoints on virtual time: found, verified, kept, moved and ended; and attacks on them.
@Suite struct MediaEndpointTests {
    @Test(arguments: [2, 3, 8]) func `all endpoints in a room connect within milliseconds, each with its own keys`(
        count: Int
    ) throws {
        let rig = try EndpointRig.room(seed: UInt64(count), count: count)
        let took = rig.run(until: { $0.isAllOpen }, within: 2)
        #expect(took ?? 9 < 0.05)
        for a in 0..<count {
            for b in 0..<count where a != b {
                #expect(rig.ends[a].endpoint.key(of: PeerID(b)) == rig.ends[b].identity.publicKey)
                #expect(rig.send(rtp(UInt16(a * 8 + b), ssrc: UInt32(1 + a)), from: a, to: b))
            }
        }
        rig.run(0.01)
        for b in 0..<count {
            #expect(rig.ends[b].packets.count == count - 1)
            for (from, bytes) in rig.ends[b].packets {
                #expect(bytes == rtp(UInt16(from.rawValue * 8 + b), ssrc: UInt32(1 + from.rawValue)))
            }
        }
    }

    @Test func `only the header of a packet is sent unencrypted`() throws {
        let rig = try EndpointRig.room(seed: 1)
        rig.run(until: { $0.isAllOpen }, within: 2)
        let secret = Array("nobody else may read this, whatever it is".utf8)
        _ = rig.send(rtp(1, payload: secret), from: 0, to: 1)
        try rig.sendMessage(secret, from: 0, to: 1)
        rig.run(0.01)
        #expect(rig.ends[1].packets.map(\.bytes) == [rtp(1, payload: secret)])
        #expect(rig.ends[1].messages.map(\.bytes) == [secret])
        for datagram in rig.record {
            for start in datagram.bytes.indices.dropLast(7) {
                #expect(!secret.starts(with: datagram.bytes[start..<start + 8]))
            }
        }
    }

    @Test(arguments: 0..<20) func `a connection is established over a network with 30% loss`(seed: UInt64) throws {
        let rig = try EndpointRig.room(seed: seed)
        rig.loss = 0.3
        #expect(rig.run(until: { $0.isAllOpen }, within: 8) != nil)
    }

    @Test func `no packet is sent before the connection is verified, and unsent packets are counted`() throws {
        let rig = try EndpointRig.room(seed: 2)
        #expect(!rig.send(rtp(1), from: 0, to: 1))
        #expect(rig.ends[0].endpoint.statistics(of: PeerID(1))?.unsent == 1)
        #expect(throws: DTLSError.notEstablished) { try rig.sendMessage([1], from: 0, to: 1) }
    }

    @Test func `both sides reject a certificate that differs from the description`() throws {
        let rig = EndpointRig(seed: 3, count: 3)
        try rig.connect(0, 1, certificates: (nil, rig.ends[2].identity.certificateFingerprint))
        rig.run(12)
        for (end, other) in [(0, 1), (1, 0)] {
            guard case .failed(.handshake)? = rig.state(other, at: end) else {
                Issue.record("\(String(describing: rig.state(other, at: end)))")
                continue
            }
            #expect(!rig.send(rtp(1), from: end, to: other))
        }
    }

    @Test func `a key that differs from the pinned one is rejected and named in the error`() throws {
        let rig = EndpointRig(seed: 4, count: 3)
        let pinned = rig.ends[2].identity.fingerprint
        try rig.connect(0, 1, expecting: pinned)
        rig.run(2)
        let found = rig.ends[1].identity.fingerprint
        #expect(rig.state(1, at: 0) == .failed(.otherKey(expected: pinned, found: found)))
        let words = TransportError.otherKey(expected: pinned, found: found).description
        #expect(words.contains(found.description) && words.contains(pinned.description))
    }

    @Test func `modified, replayed, reflected and foreign packets are rejected`() throws {
        let rig = try EndpointRig.room(seed: 5)
        rig.run(until: { $0.isAllOpen }, within: 2)
        rig.isCut = { _, _ in true }
        _ = rig.send(rtp(1), from: 0, to: 1)
        rig.isCut = { _, _ in false }
        let genuine = try #require(rig.record.last { $0.bytes[0] >> 6 == 2 })
        var changed = genuine.bytes
        changed[20] ^= 1
        let stranger = SocketAddress(.v4(0x0A00_00FE), port: 9)
        rig.inject(changed, from: genuine.from, to: 1)
        rig.inject(Array(genuine.bytes.prefix(20)), from: genuine.from, to: 1)
        rig.inject(genuine.bytes, from: genuine.to, to: 0)
        rig.inject([0x80], from: stranger, to: 1)
        rig.inject([], from: stranger, to: 1)
        #expect(rig.ends[0].packets.isEmpty && rig.ends[1].packets.isEmpty)
        rig.inject(genuine.bytes, from: genuine.from, to: 1)
        rig.inject(genuine.bytes, from: genuine.from, to: 1)
        rig.inject(genuine.bytes, from: stranger, to: 1)
        rig.run(0.01)
        #expect(rig.ends[1].packets.map(\.bytes) == [rtp(1)] && rig.ends[0].packets.isEmpty)
        let statistics = rig.ends[1].endpoint.statistics(of: PeerID(0))
        #expect(statistics?.received == 1 && statistics?.replayed == 2 && statistics?.unauthentic == 2)
        #expect(rig.ends[0].endpoint.statistics(of: PeerID(1))?.unauthentic == 1)
        #expect(rig.isOpen(0, at: 1) && rig.isOpen(1, at: 0))
    }

    @Test func `a hundred thousand hostile datagrams have no effect`() throws {
        let rig = try EndpointRig.room(seed: 6, count: 3)
        rig.run(until: { $0.isAllOpen }, within: 2)
        let real = rig.record.map(\.bytes)
        var random = SeededRandom(seed: 66)
        let sent = rig.ends[0].sent
        for n in 0..<100_000 {
            var bytes: [UInt8]
            if n % 2 == 0 {
                bytes = (0..<Int(random.next() % 200)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            } else {
                bytes = real[Int(random.next() % UInt64(real.count))]
                for _ in 0...random.next() % 3 where !bytes.isEmpty {
                    bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
                }
            }
            let known = random.next() % 3 == 0
            let source = SocketAddress(
                known ? rig.ends[1].addresses[0] : .v4(UInt32(truncatingIfNeeded: random.next())),
                port: known ? EndpointRig.port : UInt16(truncatingIfNeeded: random.next()))
            rig.inject(bytes, from: source, to: 0)
        }
        #expect(rig.ends[0].packets.isEmpty && rig.ends[0].messages.isEmpty)
        #expect(rig.ends[0].sent - sent < 500)  // answers to checks that were real once
        rig.run(1)
        #expect(rig.isAllOpen)
        #expect(rig.send(rtp(1), from: 1, to: 0))
        rig.run(0.01)
        #expect(rig.ends[0].packets.count == 1)
    }

    @Test(arguments: [0, 1]) func `a peer that moves to another address is heard again within a second`(mover: Int)
        throws
    {
        let rig = try EndpointRig.room(seed: 7)
        rig.run(until: { $0.isAllOpen }, within: 2)
        rig.run(3)
        for end in rig.ends { _ = end.endpoint.takeMovedPeers() }
        rig.move(mover, to: [.v4(0x0A00_0063)])
        var number: UInt16 = 0
        for _ in 0..<100 {
            rig.run(0.01)
            number += 1
            _ = rig.send(rtp(number, ssrc: 1), from: 0, to: 1)
            _ = rig.send(rtp(number, ssrc: 2), from: 1, to: 0)
        }
        rig.run(0.1)
        #expect(rig.isAllOpen)
        for end in 0..<2 {
            #expect(rig.ends[end].packets.last.map { Array($0.bytes.prefix(4)) } == Array(rtp(number).prefix(4)))
            #expect(rig.ends[end].packets.count > 50)
            #expect(rig.ends[end].endpoint.takeMovedPeers() == [PeerID(1 - end)])
            #expect(rig.ends[end].endpoint.takeMovedPeers().isEmpty)
        }
    }

    @Test func `a send time is advanced before its packet is protected`() throws {
        let rig = try EndpointRig.room(seed: 14)
        #expect(rig.run(until: { $0.isAllOpen }, within: 2) != nil)
        var (from, to) = (session(ssrc: 1), session(ssrc: 2))
        (from.sendTimeID, to.sendTimeID) = (1, 1)
        for later in [0, 20] as [UInt32] {
            #expect(rig.send(from.timed([1, 2, 3], sendTime: 100), from: 0, to: 1, later: later))
            rig.run(0.01)
            let packet = try #require(rig.ends[1].packets.last)
            #expect(to.take(packet.bytes).media?.sendTime == 100 + later)
        }
    }

    @Test func `a send time is sent in clear, and a packet with a changed one is rejected`() throws {
        let rig = try EndpointRig.room(seed: 15)
        #expect(rig.run(until: { $0.isAllOpen }, within: 2) != nil)
        var from = session(ssrc: 1)
        from.sendTimeID = 1
        let packet = from.timed([1, 2, 3], sendTime: 100)
        rig.tamper = { if $0.bytes.starts(with: packet[..<24]) { $0.bytes[20] ^= 1 } }
        #expect(rig.send(packet, from: 0, to: 1))
        rig.run(0.01)
        #expect(rig.record.contains { $0.bytes.starts(with: packet[..<24]) })
        #expect(rig.ends[1].packets.isEmpty)
        rig.tamper = nil
        #expect(rig.send(from.timed([1, 2, 3], sendTime: 100), from: 0, to: 1))
        rig.run(0.01)
        #expect(rig.ends[1].packets.count == 1)
    }

    @Test func `an outage of a minute is reported, and the connection resumes with the same keys`() throws {
        let rig = try EndpointRig.room(seed: 8)
        rig.run(until: { $0.isAllOpen }, within: 2)
        let key = rig.ends[0].endpoint.key(of: PeerID(1))
        rig.isCut = { _, _ in true }
        let told = rig.run(
            until: { if case .silent? = $0.state(1, at: 0) { true } else { false } }, within: 6)
        #expect(told ?? 9 < 5)
        #expect(
            rig.run(until: { if case .suspended? = $0.state(1, at: 0) { true } else { false } }, within: 40) != nil)
        #expect(!rig.send(rtp(1), from: 0, to: 1))
        rig.run(20)
        rig.isCut = { _, _ in false }
        #expect(rig.run(until: { $0.isAllOpen }, within: 2) != nil)
        #expect(rig.ends[0].endpoint.key(of: PeerID(1)) == key)
        #expect(rig.send(rtp(2), from: 0, to: 1))
        rig.run(0.01)
        #expect(rig.ends[1].packets.count == 1)
    }

    @Test func `no packet is sent or read on either side after a peer is removed`() throws {
        let rig = try EndpointRig.room(seed: 9, count: 3)
        rig.run(until: { $0.isAllOpen }, within: 2)
        let old = rig.record.map(\.bytes)
        rig.remove(1, at: 0)
        rig.run(0.01)
        #expect(rig.state(1, at: 0) == nil && rig.state(0, at: 1) == .closed)
        #expect(!rig.send(rtp(1), from: 1, to: 0) && !rig.send(rtp(1), from: 0, to: 1))
        let from = rig.ends[1].addresses[0]
        let sent = rig.record.count
        for bytes in old { rig.inject(bytes, from: SocketAddress(from, port: EndpointRig.port), to: 0) }
        rig.run(5)
        #expect(
            !rig.record[sent...].contains {
                $0.to.address == from && $0.from.address == rig.ends[0].addresses[0]
            })
        #expect(rig.ends[0].packets.isEmpty)
        #expect(rig.isOpen(2, at: 0) && rig.isOpen(0, at: 2))
    }

    @Test func `a removed peer can be connected again`() throws {
        let rig = try EndpointRig.room(seed: 10)
        for _ in 0..<100 {
            #expect(rig.run(until: { $0.isAllOpen }, within: 2) != nil)
            rig.remove(1, at: 0)
            rig.remove(0, at: 1)
            rig.run(0.01)
            try rig.connect(0, 1)
        }
    }

    @Test func `endpoints with six addresses each keep their path through every round of checks`() throws {
        let rig = try EndpointRig.room(seed: 11, addressCount: 6)
        let took = rig.run(until: { $0.isAllOpen }, within: 2)
        #expect(took ?? 9 < 0.05)
        for n in 0..<60 {
            try rig.sendMessage([UInt8(n)], from: 0, to: 1)
            try rig.sendMessage([UInt8(n)], from: 1, to: 0)
            rig.run(0.2)
        }
        #expect(rig.ends[0].messages.map(\.bytes) == (0..<60).map { [UInt8($0)] })
        #expect(rig.ends[1].messages.map(\.bytes) == (0..<60).map { [UInt8($0)] })
        #expect(rig.ends[0].endpoint.statistics(of: PeerID(1))?.moves == 0)
    }

    @Test(arguments: [0, 1]) func `a handshake whose address disappears times out without a busy loop`(mover: Int)
        throws
    {
        let rig = EndpointRig(seed: 12)
        // Every datagram of the handshake is lost.
        rig.tamper = { if (20...63).contains($0.bytes[0]) { $0.bytes = [] } }
        try rig.connect(0, 1)
        rig.run(1)
        guard case .securing? = rig.state(1 - mover, at: mover) else {
            Issue.record("\(String(describing: rig.state(1 - mover, at: mover)))")
            return
        }
        rig.move(mover, to: [])
        rig.run(12)
        #expect(rig.state(1 - mover, at: mover) == .failed(.handshake(.timedOut(nil))))
    }

    @Test func `a server with a silent client times out like the client does`() throws {
        let rig = EndpointRig(seed: 13)
        rig.tamper = { if (20...63).contains($0.bytes[0]) { $0.bytes = [] } }
        try rig.connect(0, 1)
        rig.run(11)
        #expect(rig.state(0, at: 1) == .failed(.handshake(.timedOut(nil))))
        #expect(rig.state(1, at: 0) == .failed(.handshake(.timedOut(nil))))
    }

    @Test func `a handshake that starts before the answer arrives is not restarted`() throws {
        let rig = EndpointRig(seed: 14)
        let offer = rig.expect(1, at: 0, role: .controlling, key: nil)
        let answer = rig.expect(0, at: 1, role: .controlled, key: nil)
        try rig.notify(1, of: 0, offer, certificate: nil, dtlsRole: .client)
        rig.run(0.02)
        try rig.notify(0, of: 1, answer, certificate: nil, dtlsRole: .server)
        let took = rig.run(until: { $0.isAllOpen }, within: 2)
        #expect(took ?? 9 < 0.02, "the client sends again after 0.05 s")
    }

    @Test(arguments: [false, true])
    func `a message that arrives with the end of the handshake is delivered for the right key only`(
        isPinned: Bool
    ) throws {
        let rig = EndpointRig(seed: 15, count: 3)
        let pinned = rig.ends[isPinned ? 0 : 2].identity.fingerprint
        let offer = rig.expect(1, at: 0, role: .controlling, key: nil)
        let answer = rig.expect(0, at: 1, role: .controlled, key: pinned)
        try rig.notify(1, of: 0, offer, certificate: nil, dtlsRole: .client)
        try rig.notify(0, of: 1, answer, certificate: nil, dtlsRole: .server)
        rig.run(until: { $0.isOpen(1, at: 0) }, within: 2)
        // It overtakes the server's last flight.
        rig.delay = 0.0005
        try rig.sendMessage([7], from: 0, to: 1)
        rig.run(0.1)
        #expect(rig.isOpen(0, at: 1) == isPinned)
        #expect(rig.ends[1].messages.map(\.bytes) == (isPinned ? [[7]] : []))
    }

    @Test func `an oversized packet is counted as unsent`() throws {
        let rig = try EndpointRig.room(seed: 16)
        rig.run(until: { $0.isAllOpen }, within: 2)
        #expect(!rig.send([UInt8](repeating: 0x80, count: MediaEndpoint.maximumPacketSize + 1), from: 0, to: 1))
        #expect(rig.ends[0].endpoint.statistics(of: PeerID(1))?.unsent == 1)
    }

    @Test func `an endpoint that slept past the remote peer's consent renews it before sending`() throws {
        let rig = try EndpointRig.room(seed: 17)
        rig.run(until: { $0.isAllOpen }, within: 2)
        rig.run(3)
        rig.sleep(0, for: 40)
        #expect(!rig.send(rtp(1), from: 0, to: 1))
        #expect(rig.run(until: { $0.isAllOpen && $0.send(rtp(2), from: 0, to: 1) }, within: 1) != nil)
        rig.sleep(0, for: 10)
        #expect(rig.send(rtp(3), from: 0, to: 1), "a short sleep takes nothing away")
    }
}
