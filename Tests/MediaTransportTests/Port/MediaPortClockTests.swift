// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotMediaTransport

/// Send and arrival times on their way through the cores of two ports, on virtual time.
@Suite struct MediaPortClockTests {
    private final class Client: ClockedMediaClient {
        let wakeup = Wakeup()
        let realTimePriority: Int? = nil
        let nextDeadline: HostTime? = nil
        var toSend: [[UInt8]] = []
        var received: [(bytes: [UInt8], arrived: HostTime)] = []
        var (moveCount, sleepCount, roundTrips) = (0, 0, [Double]())

        var hasMedia: Bool { !toSend.isEmpty }
        func receive(_ packet: UnsafeRawBufferPointer, from peer: PeerID, at now: HostTime) {
            Issue.record("the time of arrival is missing")
        }
        func receive(_ packet: UnsafeRawBufferPointer, from peer: PeerID, at now: HostTime, arrived: HostTime) {
            received.append((Array(packet), arrived))
        }
        func sendMedia(at now: HostTime, _ send: MediaSend) {
            for packet in toSend { packet.withUnsafeBytes { send($0, PeerID(0)) } }
            toSend = []
        }
        func setOpen(_ isOpen: Bool, to peer: PeerID) {}
        func leave(_ peer: PeerID, at now: HostTime, _ send: MediaSend) {}
        func pathChanged(to peer: PeerID) { moveCount += 1 }
        func measured(roundTrip: Double, to peer: PeerID) { roundTrips.append(roundTrip) }
        func slept() { sleepCount += 1 }
    }

    /// Two ports whose clients call each other peer 0. Datagrams take 1 ms; their turns take 20 µs until a packet is protected.
    private final class Rig {
        static let port: UInt16 = 47_400
        let clients = [Client(), Client()]
        var cores: [MediaPortCore] = []
        var now = HostTime.seconds(1)
        var addresses = [IPAddress.v4(0x0A00_0001), .v4(0x0A00_0002)]
        private var flying: [(at: HostTime, to: Int, bytes: [UInt8], from: IPAddress)] = []

        init() throws {
            let identities = try (0..<2).map { _ in
                try Identity.generate(hostNames: [], addresses: [], at: 1_800_000_000)
            }
            var random = SeededRandom(seed: 1)
            let credentials = (0..<2).map { _ in ICECredentials.random(using: &random) }
            for end in 0..<2 {
                let core = MediaPortCore(
                    identity: identities[end], client: clients[end], generator: SeededRandom(seed: UInt64(end)),
                    clock: { [unowned self] in now.advanced(bySeconds: 20e-6) }, notify: { _ in },
                    deliverMessage: { _, _ in })
                cores.append(core)
                core.setLocalAddresses([addresses[end]], at: now)
                core.execute(
                    .add(
                        PeerID(0),
                        LocalTransportParameters(
                            role: end == 0 ? .controlling : .controlled, credentials: credentials[end]),
                        MediaPort.TransportID(number: 1)), at: now, transmit(end))
                let remote = RemoteTransportParameters(
                    credentials: credentials[1 - end],
                    candidates: ICECandidate.hosts([addresses[1 - end]], port: Self.port),
                    certificate: identities[1 - end].certificateFingerprint, dtlsRole: end == 0 ? .server : .client)
                core.execute(.setRemote(PeerID(0), remote), at: now, transmit(end))
            }
        }

        func run(_ seconds: Double) {
            let end = now.advanced(bySeconds: seconds)
            while now < end {
                now = now.advanced(bySeconds: 0.001)
                while let first = flying.first, first.at <= now {
                    var datagram = flying.removeFirst()
                    // The thread reads each datagram 0.3 ms after its arrival.
                    datagram.bytes.withUnsafeMutableBytes {
                        cores[datagram.to].receive(
                            $0, from: SocketAddress(datagram.from, port: Self.port), to: addresses[datagram.to],
                            at: now, arrived: now.advanced(bySeconds: -0.000_3), transmit(datagram.to))
                    }
                }
                for end in 0..<2 { cores[end].turn(at: now, transmit(end)) }
            }
        }

        private func transmit(_ end: Int) -> MediaEndpoint.Transmit {
            { [unowned self] bytes, from, to in
                guard from == addresses[end], to.address == addresses[1 - end] else { return }
                flying.append((now.advanced(bySeconds: 0.001), 1 - end, Array(bytes), from))
            }
        }
    }

    @Test func `a packet is sent with the time of its protection, and arrives with that of the socket`() throws {
        let rig = try Rig()
        rig.run(0.5)
        var (from, to) = (session(ssrc: 1), session(ssrc: 2))
        (from.sendTimeID, to.sendTimeID) = (1, 1)
        rig.clients[0].toSend = [from.timed([1, 2, 3], sendTime: 100)]
        rig.run(0.001)
        let sent = rig.now
        rig.run(0.005)
        let packet = try #require(rig.clients[1].received.last)
        #expect(to.take(packet.bytes).media?.sendTime == 120)
        #expect(packet.arrived == sent.advanced(bySeconds: 0.000_7))
    }

    @Test func `a client learns of round trips, sleep and another path`() throws {
        let rig = try Rig()
        rig.run(3)
        for client in rig.clients {
            #expect((2...4).contains(client.roundTrips.count))
            #expect(client.roundTrips.allSatisfy { abs($0 - 0.002) < 0.001 })
            #expect(client.moveCount <= 1 && client.sleepCount == 0)
        }
        rig.cores[1].slept(for: 5, at: rig.now)
        #expect(rig.clients.map(\.sleepCount) == [0, 1])
        let moves = rig.clients.map(\.moveCount)
        rig.addresses[1] = .v4(0x0A00_0063)
        rig.cores[1].setLocalAddresses([rig.addresses[1]], at: rig.now)
        rig.run(3)
        #expect(rig.clients.map(\.moveCount) == moves.map { $0 + 1 })
    }
}
