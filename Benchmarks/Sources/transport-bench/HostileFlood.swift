// SPDX-License-Identifier: Apache-2.0

import BenchReports
import BenchScenes
import Foundation
import Synchronization

@testable import EarshotAudioBase
@testable import EarshotMediaTransport
@testable import TestSupport

/// A flood of hostile datagrams, from the remote peer's own address and from 250 others, on a port with a call in both
/// directions: a packet of 300 bytes every 2.7 ms. Its thread has real-time priority if the system grants it, as in a call.
struct HostileFlood {
    /// The total number of datagrams.
    let count: Int
    /// Datagrams per second; nil for as many as a core can send, of which the socket's buffer must drop some.
    var rate: Double? = 50_000

    func reports() throws -> [Report] {
        let client = BenchClient(size: 300, interval: 128 / 48_000.0, ssrc: 1, realTimePriority: 60)
        let caller = try RequestOrigin(client)
        defer { caller.stop() }
        try wait { client.isOpen.load(ordering: .acquiring) && caller.heard.withLock(\.isComplete) }
        let heard = caller.heard.withLock { $0 }
        let sockets = (0..<UInt32(250)).map { PlainSocket(0x7F00_0001 + ($0 + 1) * 0x0001_0101) }
        let target = caller.port.localAddress.port

        let quiet = Window(client, caller)
        sleep(1)
        let between = Window(client, caller)
        let before = ProcessFootprint.now().anonymousBytes
        var random = SeededRandom(seed: 9)
        let start = HostTime.now()
        var refused = 0
        for n in 0..<count {
            let kind = Hostile.allCases[n % Hostile.allCases.count]
            let bytes = kind.make(heard, &random)
            let descriptor = n % 3 == 0 ? caller.descriptor : sockets[random.below(sockets.count)].descriptor
            bytes.withUnsafeBytes { if !PlainSocket.send($0, to: target, by: descriptor) { refused += 1 } }
            if let rate, n % 50 == 0 {
                let ahead = Double(n) / rate - HostTime.now().seconds(since: start)
                if ahead > 0.0005 { usleep(UInt32(ahead * 1e6)) }
            }
        }
        let took = HostTime.now().seconds(since: start)
        let after = Window(client, caller)
        usleep(300_000)
        let settled = Window(client, caller)
        let growth = ProcessFootprint.now().anonymousBytes - before

        let calm = between - quiet
        let flood = after - between
        let rest = settled - between
        let isOpen = client.isOpen.load(ordering: .acquiring)
        let arrived = max(1, count - rest.dropped - refused)
        let own = flood.processor - calm.processor / calm.seconds * flood.seconds
        func excuse(_ dropped: Int) -> String? {
            dropped > 0 ? "the kernel dropped \(dropped) datagrams, the receiving socket's buffer being full" : nil
        }
        let words = "\(count) datagrams at \(decimal(Double(count) / took / 1_000, 0)) thousand a second"
        return [
            Report(
                "call's packets to the port that were lost", Double(rest.lostIn), excuse: excuse(rest.dropped), "",
                rate == nil ? nil : .atMost(0),
                against: "\(rest.toPort) sent; \(words); \(rest.dropped) dropped by the kernel"),
            Report(
                "call's packets from the port that were lost", Double(rest.lostOut),
                excuse: excuse(rest.droppedAtCaller), "", .atMost(0),
                against: "\(rest.fromPort) sent"),
            Report("the way stands after the flood", isOpen ? 1 : 0, "", .atLeast(1), against: "open before"),
            Report(
                "memory that a flood leaves behind", Double(growth) / 1_024, "KiB", .atMost(256),
                against: "the measure's own lists included"),
            Report(
                "processor time for a hostile datagram, recvmsg included", own * 1e6 / Double(arrived), "µs",
                .atMost(25),
                against:
                    "the port's thread in a quiet second: \(decimal(calm.processor / calm.seconds * 100)) % of a core"),
        ]
    }

    /// The counts until a time, or between two times.
    private struct Window {
        var seconds: Double
        var processor: Double
        var toPort: Int
        var atPort: Int
        var fromPort: Int
        var atCaller: Int
        var dropped: Int
        var droppedAtCaller: Int

        init(_ client: BenchClient, _ caller: RequestOrigin) {
            seconds = Double(HostTime.now().nanoseconds) * 1e-9
            processor = Double(client.processorTime.load(ordering: .relaxed)) * 1e-9
            toPort = caller.sent.load(ordering: .relaxed)
            atPort = client.received.load(ordering: .relaxed)
            fromPort = client.sent.load(ordering: .relaxed)
            atCaller = caller.received.load(ordering: .relaxed)
            dropped = Self.drops(caller.port.localAddress.port)
            droppedAtCaller = Self.drops(caller.localPort)
        }

        static func - (a: Window, b: Window) -> Window {
            var result = a
            result.seconds -= b.seconds
            result.processor -= b.processor
            result.toPort -= b.toPort
            result.atPort -= b.atPort
            result.fromPort -= b.fromPort
            result.atCaller -= b.atCaller
            result.dropped -= b.dropped
            result.droppedAtCaller -= b.droppedAtCaller
            return result
        }

        /// Except one that may be on its way.
        var lostIn: Int { max(0, toPort - atPort - 1) }
        var lostOut: Int { max(0, fromPort - atCaller - 1) }

        /// Returns the datagrams that the kernel has dropped because the buffer of this port's socket was full.
        private static func drops(_ port: UInt16) -> Int {
            let table = (try? String(contentsOfFile: "/proc/net/udp", encoding: .ascii)) ?? ""
            let own = ":" + String(format: "%04X", Int(port))
            let line = table.split(separator: "\n").first { line in
                let words = line.split(separator: " ")
                return words.count > 12 && words[1].hasSuffix(own)
            }
            return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
        }
    }
}

/// A remote peer: an endpoint with its own socket and thread. It keeps the datagrams that it sends.
private final class RequestOrigin: @unchecked Sendable {  // the thread's own, constant, atomic or locked
    let port: MediaPort
    let heard = Mutex(Heard())
    let sent = Atomic<Int>(0)
    let received = Atomic<Int>(0)
    private let socket: MediaSocket
    private var endpoint: MediaEndpoint
    private let running = Atomic(true)
    private let ended = DispatchSemaphore(value: 0)

    var descriptor: CInt { socket.fileDescriptor }
    var localPort: UInt16 { socket.localAddress.port }

    init(_ client: BenchClient) throws {
        let identities = try (0..<2).map { _ in try Identity.generate(at: PortPair.date) }
        port = try MediaPort(identity: identities[0], address: .loopback, port: 0, client: client)
        socket = try MediaSocket(address: .loopback, port: 0)
        endpoint = MediaEndpoint(identity: identities[1])
        let now = HostTime.now()
        endpoint.setLocalAddresses([.loopback], at: now)
        var generator = SystemRandomNumberGenerator()
        let credentials = (0..<2).map { _ in ICECredentials.random(using: &generator) }
        func remote(_ end: Int, _ address: SocketAddress, _ role: DTLSRole) -> RemoteTransportParameters {
            RemoteTransportParameters(
                credentials: credentials[end],
                candidates: ICECandidate.hosts([address.address], port: address.port),
                certificate: identities[end].certificateFingerprint, dtlsRole: role)
        }
        guard port.start() else { throw NoSession() }
        port.add(PortPair.peer, LocalTransportParameters(role: .controlled, credentials: credentials[0]))
        port.setRemote(remote(1, socket.localAddress, .server), of: PortPair.peer)
        _ = endpoint.add(
            PortPair.peer, LocalTransportParameters(role: .controlling, credentials: credentials[1]), at: now,
            using: &generator)
        try endpoint.setRemote(remote(0, port.localAddress, .client), of: PortPair.peer, at: now)
        Thread.detachNewThread { [self] in
            run()
            ended.signal()
        }
    }

    func stop() {
        running.store(false, ordering: .releasing)
        ended.wait()
        port.stop()
    }

    private func run() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 16)
        defer { buffer.deallocate() }
        let packet = NumberedPacket(size: 300, ssrc: 2)
        var seen = SeenNumbers()
        var next: HostTime?
        let transmit: MediaEndpoint.Transmit = { [self] bytes, local, peer in
            heard.withLock { $0.add(Array(bytes)) }
            _ = try? socket.send(bytes, to: peer, from: local)
        }
        let deliver: MediaEndpoint.Deliver = { [self] _, event in
            guard case .packet(let bytes) = event, let stamp = NumberedPacket.stamp(of: bytes),
                seen.insert(stamp.number)
            else { return }
            received.add(1, ordering: .relaxed)
        }
        while running.load(ordering: .acquiring) {
            var entry = pollfd(fd: socket.fileDescriptor, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, 1)
            while let datagram = try? socket.receive(into: buffer) {
                endpoint.receive(
                    UnsafeMutableRawBufferPointer(rebasing: buffer[..<datagram.size]), from: datagram.source,
                    to: datagram.local, at: .now(), transmit: transmit, deliver: deliver)
            }
            let now = HostTime.now()
            endpoint.tick(at: now, transmit: transmit, deliver: deliver)
            guard case .open? = endpoint.state(of: PortPair.peer) else { continue }
            while next ?? now <= now {
                packet.stamp(UInt32(sent.load(ordering: .relaxed)))
                if endpoint.send(packet.next(), to: PortPair.peer, transmit: transmit) {
                    sent.add(1, ordering: .relaxed)
                }
                next = (next ?? now).advanced(bySeconds: 128 / 48_000.0)
            }
        }
    }
}
