// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import EarshotMediaTransport

/// Ports with real sockets and threads, over loopback.
@Suite struct MediaPortTests {
    /// Sends a packet on request and keeps what arrives.
    private final class Client: MediaClient, @unchecked Sendable {
        let wakeup = Wakeup()
        var realTimePriority: Int? { nil }
        let received = Mutex<[(PeerID, [UInt8])]>([])
        let toSend = Mutex<[(PeerID, [UInt8])]>([])
        let left = Mutex<[PeerID]>([])

        var hasMedia: Bool { toSend.withLock { !$0.isEmpty } }
        var nextDeadline: HostTime? { nil }

        func receive(_ packet: UnsafeRawBufferPointer, from peer: PeerID, at now: HostTime) {
            received.withLock { $0.append((peer, Array(packet))) }
        }
        func sendMedia(at now: HostTime, _ send: MediaSend) {
            let packets = toSend.withLock { packets in
                defer { packets = [] }
                return packets
            }
            for (peer, bytes) in packets { bytes.withUnsafeBytes { send($0, peer) } }
        }
        func setOpen(_ isOpen: Bool, to peer: PeerID) {}
        func leave(_ peer: PeerID, at now: HostTime, _ send: MediaSend) { left.withLock { $0.append(peer) } }
    }

    private struct Side {
        let identity: Identity
        let client = Client()
        let port: MediaPort
        let credentials: ICECredentials

        init(_ address: IPAddress) throws {
            identity = try Identity.generate(hostNames: [], addresses: [address], at: 1_800_000_000)
            port = try MediaPort(identity: identity, address: address, port: 0, client: client)
            var generator = SystemRandomNumberGenerator()
            credentials = ICECredentials.random(using: &generator)
        }

        func remote(_ role: DTLSRole) -> RemoteTransportParameters {
            RemoteTransportParameters(
                credentials: credentials,
                candidates: ICECandidate.hosts([port.localAddress.address], port: port.localAddress.port),
                certificate: identity.certificateFingerprint, dtlsRole: role)
        }
    }

    private func connected(_ address: IPAddress) throws -> (Side, Side) {
        let (a, b) = (try Side(address), try Side(address))
        #expect(a.port.start() && b.port.start())
        a.port.add(PeerID(2), LocalTransportParameters(role: .controlling, credentials: a.credentials))
        b.port.add(PeerID(1), LocalTransportParameters(role: .controlled, credentials: b.credentials))
        b.port.setRemote(a.remote(.client), of: PeerID(1))
        a.port.setRemote(b.remote(.server), of: PeerID(2))
        return (a, b)
    }

    private func isOpen(_ side: Side, _ peer: Int) -> Bool {
        if case .open? = side.port.report(of: PeerID(peer))?.state { true } else { false }
    }

    @Test(arguments: [IPAddress.loopback, .loopbackV6])
    func `two ports connect, exchange packets and messages, and disconnect`(address: IPAddress) async throws {
        let (a, b) = try connected(address)
        #expect(eventually { isOpen(a, 2) && isOpen(b, 1) })
        #expect(a.port.report(of: PeerID(2))?.key == b.identity.publicKey)
        for n in 0..<50 {
            a.client.toSend.withLock { $0.append((PeerID(2), rtp(UInt16(n)))) }
            a.client.wakeup.handle.wake()
        }
        #expect(eventually { b.client.received.withLock { $0.count } == 50 })
        #expect(b.client.received.withLock { $0.map(\.1) } == (0..<50).map { rtp(UInt16($0)) })
        b.port.send([1, 2, 3], to: PeerID(1))
        var message: [UInt8]?
        for await (peer, bytes) in a.port.messages {
            #expect(peer == PeerID(2))
            message = bytes
            break
        }
        #expect(message == [1, 2, 3])
        a.port.remove(PeerID(2))
        #expect(eventually { b.port.report(of: PeerID(1))?.state == .closed })
        #expect(a.client.left.withLock { $0.contains(PeerID(2)) })
        a.port.stop()
        b.port.stop()
    }

    @Test func `a flood of messages does not displace state changes`() async throws {
        let (a, b) = try connected(.loopback)
        #expect(eventually { isOpen(a, 2) && isOpen(b, 1) })
        for n in 0..<600 {
            b.port.send([UInt8(n % 256), UInt8(n / 256)], to: PeerID(1))
            // Not faster than a socket's buffer can hold them.
            if n % 50 == 49 { #expect(eventually { b.port.orders.withLock(\.isEmpty) }) }
        }
        b.port.remove(PeerID(1))
        #expect(eventually { a.port.report(of: PeerID(2))?.state == .closed })
        a.port.stop()
        b.port.stop()
        var states: [TransportState] = []
        for await case .state(PeerID(2), let state, _) in a.port.events { states.append(state) }
        #expect(states.contains { if case .open = $0 { true } else { false } } && states.last == .closed)
        var count = 0
        for await (_, bytes) in a.port.messages {
            count += 1
            #expect(bytes.count == 2)
        }
        #expect(count == 256)
    }

    @Test func `a port is released when its thread ends`() throws {
        weak var port: MediaPort?
        do {
            let side = try Side(.loopback)
            #expect(side.port.start())
            port = side.port
        }
        #expect(port != nil)
        port?.stop()
        #expect(eventually { port == nil })
    }

    @Test func `a port that stops notifies the remote peer`() throws {
        let (a, b) = try connected(.loopback)
        #expect(eventually { isOpen(a, 2) && isOpen(b, 1) })
        a.port.stop()
        #expect(eventually { b.port.report(of: PeerID(1))?.state == .closed })
        b.port.stop()
    }

    @Test func `a port counts its wake-ups and system calls`() throws {
        let start = HostTime.now()
        let (a, b) = try connected(.loopback)
        #expect(eventually { isOpen(a, 2) && isOpen(b, 1) })
        for n in 0..<20 {
            usleep(10_000)  // long enough for both threads to sleep again, nearly always
            a.client.toSend.withLock { $0.append((PeerID(2), rtp(UInt16(n)))) }
            a.client.wakeup.handle.wake()
            #expect(eventually { b.client.received.withLock { $0.count } == n + 1 })
        }
        a.port.stop()
        b.port.stop()
        let (sender, receiver) = (a.port.work, b.port.work)
        #expect(sender.sends >= 20)
        #expect(receiver.receives > 20)  // in vain too
        // The 20 packets, two commands and the stop; if the thread is awake, there is no signal.
        // The receiver can be awake at each of its three, since the sender's packets wake it.
        #expect((1...23).contains(sender.signals) && receiver.signals <= 3)
        #expect(sender.waits > sender.signals && receiver.waits > receiver.signals)
        #expect(sender.systemCalls == sender.waits + sender.signals + sender.sends + sender.receives)
        #expect(start < sender.time && sender.time <= .now())
        #expect(try Side(.loopback).port.work == MediaPortWork())
    }

    @Test func `a port number in use is reported`() throws {
        let a = try Side(.loopback)
        let number = a.port.localAddress.port
        #expect(throws: UDPSocketError.portInUse(number)) {
            _ = try MediaPort(identity: a.identity, address: .loopback, port: number)
        }
    }
}
