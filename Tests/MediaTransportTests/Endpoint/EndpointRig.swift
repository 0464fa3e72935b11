// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotMediaTransport

/// Endpoints and the network between them on virtual time; a seed decides what happens to each datagram. End `n` is the others'
/// peer `n`.
final class EndpointRig {
    struct Datagram {
        var at: HostTime
        var from: SocketAddress
        var to: SocketAddress
        var bytes: [UInt8]
    }

    /// One process.
    final class End {
        var endpoint: MediaEndpoint
        let identity: Identity
        var addresses: [IPAddress]
        var packets: [(from: PeerID, bytes: [UInt8])] = []
        var messages: [(from: PeerID, bytes: [UInt8])] = []
        var states: [(of: PeerID, state: TransportState, at: HostTime)] = []
        var sent = 0
        var credentials: [Int: ICECredentials] = [:]  // by remote peer

        init(_ identity: Identity, _ addresses: [IPAddress], at now: HostTime) {
            self.identity = identity
            self.addresses = addresses
            endpoint = MediaEndpoint(identity: identity)
            endpoint.setLocalAddresses(addresses, at: now)
        }
    }

    static let port: UInt16 = 47_400
    let ends: [End]
    var delay = 0.001
    var loss = 0.0
    /// Returns true if datagrams on this path are lost now.
    var isCut: (_ from: IPAddress, _ to: IPAddress) -> Bool = { _, _ in false }
    /// Changes a datagram on its way.
    var tamper: ((inout Datagram) -> Void)?
    private(set) var record: [Datagram] = []
    private(set) var now = HostTime(nanoseconds: 1_000_000_000)
    private var flying: [Datagram] = []
    private var random: SeededRandom
    private static let identities: [Identity] = (0..<9).map { _ in
        try! Identity.generate(hostNames: [], addresses: [], at: 1_800_000_000)
    }

    init(seed: UInt64, count: Int = 2, addressCount: Int = 1) {
        random = SeededRandom(seed: seed)
        let now = now
        ends = (0..<count).map { end in
            let addresses = (0..<addressCount).map { IPAddress.v4(0x0A00_0001 + UInt32(end) + UInt32($0) << 8) }
            return End(Self.identities[end], addresses, at: now)
        }
    }

    /// All ends in one room.
    static func room(seed: UInt64, count: Int = 2, addressCount: Int = 1) throws -> EndpointRig {
        let rig = EndpointRig(seed: seed, count: count, addressCount: addressCount)
        for a in 0..<count { for b in (a + 1)..<count { try rig.connect(a, b) } }
        return rig
    }

    /// Does the signalling: `a` offers, `b` answers.
    func connect(
        _ a: Int, _ b: Int, certificates: (CertificateFingerprint?, CertificateFingerprint?) = (nil, nil),
        expecting: KeyFingerprint? = nil
    ) throws {
        let offer = expect(b, at: a, role: .controlling, key: expecting)
        let answer = expect(a, at: b, role: .controlled, key: nil)
        try notify(b, of: a, offer, certificate: certificates.0, dtlsRole: .client)
        try notify(a, of: b, answer, certificate: certificates.1, dtlsRole: .server)
    }

    func expect(_ other: Int, at end: Int, role: ICERole, key: KeyFingerprint?) -> ICECredentials {
        let credentials = ICECredentials.random(using: &random)
        let isNew = ends[end].endpoint.add(
            PeerID(other), LocalTransportParameters(role: role, credentials: credentials, expectedKey: key), at: now,
            using: &random)
        precondition(isNew)
        return credentials
    }

    func notify(
        _ end: Int, of other: Int, _ credentials: ICECredentials, certificate: CertificateFingerprint?,
        dtlsRole: DTLSRole
    ) throws {
        try ends[end].endpoint.setRemote(
            RemoteTransportParameters(
                credentials: credentials, candidates: ICECandidate.hosts(ends[other].addresses, port: Self.port),
                certificate: certificate ?? ends[other].identity.certificateFingerprint, dtlsRole: dtlsRole),
            of: PeerID(other), at: now)
    }

    func send(_ bytes: [UInt8], from end: Int, to other: Int, later: UInt32 = 0) -> Bool {
        bytes.withUnsafeBytes {
            ends[end].endpoint.send($0, to: PeerID(other), later: later, transmit: transmit(end))
        }
    }

    func sendMessage(_ bytes: [UInt8], from end: Int, to other: Int) throws {
        try bytes.withUnsafeBytes {
            try ends[end].endpoint.sendMessage($0, to: PeerID(other), transmit: transmit(end))
        }
    }

    func remove(_ other: Int, at end: Int) {
        ends[end].endpoint.remove(PeerID(other), transmit: transmit(end))
    }

    func move(_ end: Int, to addresses: [IPAddress]) {
        ends[end].addresses = addresses
        ends[end].endpoint.setLocalAddresses(addresses, at: now)
    }

    func sleep(_ end: Int, for seconds: Double) { ends[end].endpoint.slept(for: seconds, at: now) }

    func state(_ other: Int, at end: Int) -> TransportState? { ends[end].endpoint.state(of: PeerID(other)) }

    func isOpen(_ other: Int, at end: Int) -> Bool {
        if case .open? = state(other, at: end) { true } else { false }
    }

    var isAllOpen: Bool {
        ends.indices.allSatisfy { a in ends.indices.allSatisfy { a == $0 || isOpen($0, at: a) } }
    }

    func run(_ seconds: Double) { _ = run(until: { _ in false }, within: seconds) }

    /// - Returns: the seconds it took; nil if it did not happen.
    @discardableResult
    func run(until holds: (EndpointRig) -> Bool, within seconds: Double) -> Double? {
        let start = now
        let limit = now.advanced(bySeconds: seconds)
        for end in ends.indices { tick(end) }
        var idle = 0
        while !holds(self) {
            let deadlines = ends.compactMap { $0.endpoint.nextDeadline } + (flying.first.map { [$0.at] } ?? [])
            guard let next = deadlines.min(), next <= limit else {
                now = limit
                for end in ends.indices { tick(end) }
                return holds(self) ? seconds : nil
            }
            idle = next <= now ? idle + 1 : 0
            guard idle < 1_000 else {
                Issue.record("the thread would spin")
                return nil
            }
            now = max(now, next)
            while let datagram = flying.first, datagram.at <= now {
                flying.removeFirst()
                if let end = ends.firstIndex(where: { $0.addresses.contains(datagram.to.address) }) {
                    deliver(datagram, to: end)
                }
            }
            for end in ends.indices { tick(end) }
        }
        return now.seconds(since: start)
    }

    /// Delivers a datagram to an end from any address.
    func inject(_ bytes: [UInt8], from: SocketAddress, to end: Int) {
        deliver(
            Datagram(at: now, from: from, to: SocketAddress(ends[end].addresses[0], port: Self.port), bytes: bytes),
            to: end)
    }

    private func tick(_ end: Int) {
        guard let due = ends[end].endpoint.nextDeadline, due <= now else { return }
        ends[end].endpoint.tick(at: now, transmit: transmit(end), deliver: take(end))
    }

    private func deliver(_ datagram: Datagram, to end: Int) {
        var bytes = datagram.bytes
        bytes.withUnsafeMutableBytes {
            ends[end].endpoint.receive(
                $0, from: datagram.from, to: datagram.to.address, at: now, transmit: transmit(end), deliver: take(end))
        }
    }

    private func take(_ end: Int) -> MediaEndpoint.Deliver {
        { [self] peer, event in
            switch event {
            case .packet(let bytes): ends[end].packets.append((peer, Array(bytes)))
            case .message(let bytes): ends[end].messages.append((peer, Array(bytes)))
            case .state(let state): ends[end].states.append((peer, state, now))
            }
        }
    }

    private func transmit(_ end: Int) -> MediaEndpoint.Transmit {
        { [self] bytes, from, to in
            var datagram = Datagram(
                at: now.advanced(bySeconds: delay), from: SocketAddress(from, port: Self.port), to: to,
                bytes: Array(bytes))
            ends[end].sent += 1
            record.append(datagram)
            let lost = random.unit() < loss
            if lost || isCut(from, to.address) || !ends[end].addresses.contains(from) { return }
            tamper?(&datagram)
            let at = flying.firstIndex { $0.at > datagram.at } ?? flying.count
            flying.insert(datagram, at: at)
        }
    }
}

/// An RTP packet of type 97.
func rtp(_ number: UInt16, ssrc: UInt32 = 0x1234_5678, payload: [UInt8] = Array(0..<40)) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: RTPPacket.headerSize)
    bytes.withMutableRawSpan {
        RTPPacket(
            payloadType: 97, marker: false, sequenceNumber: number, timestamp: UInt32(number) * 480, ssrc: ssrc,
            payloadSize: payload.count
        ).writeHeader(into: &$0)
    }
    return bytes + payload
}
