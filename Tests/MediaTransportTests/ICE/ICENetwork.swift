// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotMediaTransport

/// Agents and the network between them on virtual time; a seed decides what happens to each datagram.
final class ICENetwork {
    /// The network path from one address to another: a delay in seconds, and shares.
    struct Path {
        var delay = 0.001
        var jitter = 0.0
        var loss = 0.0
    }

    struct Datagram {
        var at: HostTime
        var from: SocketAddress
        var to: SocketAddress
        var bytes: [UInt8]
    }

    struct Node {
        var agent: ICEAgent
        var addresses: [IPAddress]
        var port: UInt16
        /// True if the process is stopped: it neither ticks nor receives, and datagrams wait in the kernel.
        var isStopped = false
        var waiting: [Datagram] = []
        var sent = 0
    }

    var nodes: [Node] = []
    private(set) var now = HostTime.seconds(0)
    /// The path of datagrams; nil for none.
    var path: (_ from: IPAddress, _ to: IPAddress) -> Path?
    /// A router's translation of addresses, in both directions.
    var translated: [SocketAddress: SocketAddress] = [:]
    /// Everything sent, as it was on the wire.
    private(set) var record: [Datagram] = []
    /// The number of each result of the arrived datagrams.
    private(set) var received: [ICEAgent.Received: Int] = [:]

    private var flying: [Datagram] = []  // in order of arrival
    private var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        path = { from, to in ICENetwork.areNeighbours(from, to) ? Path() : nil }
    }

    /// Returns true for addresses in one /24 of IPv4 or one /64 of IPv6, whatever the scope.
    static func areNeighbours(_ a: IPAddress, _ b: IPAddress) -> Bool {
        switch (a, b) {
        case (.v4(let a), .v4(let b)): a >> 8 == b >> 8
        case (.v6(let a, _), .v6(let b, _)): a >> 64 == b >> 64
        default: false
        }
    }

    /// Adds an agent that does not know its peer yet.
    /// - Returns: its number.
    func add(
        _ role: ICERole, _ addresses: [String], mode: ICEMode = .full, port: UInt16 = 47_400
    ) -> Int {
        let addresses = addresses.map { IPAddress($0)! }
        let credentials = ICECredentials.random(using: &random)
        var agent = ICEAgent(mode, role: role, credentials: credentials, at: now, using: &random)
        agent.setLocalAddresses(addresses, at: now)
        nodes.append(Node(agent: agent, addresses: addresses, port: port))
        return nodes.count - 1
    }

    /// Gives agent `i` the description of agent `j`.
    func notify(_ i: Int, of j: Int, candidates: Bool = true) {
        nodes[i].agent.setRemote(
            nodes[j].agent.credentials,
            candidates: candidates ? ICECandidate.hosts(nodes[j].addresses, port: nodes[j].port) : [], at: now)
    }

    /// Two full agents that know each other; the first is controlling.
    static func pair(
        seed: UInt64, _ a: [String] = ["10.0.0.1"], _ b: [String] = ["10.0.0.2"],
        roles: (ICERole, ICERole) = (.controlling, .controlled)
    ) -> ICENetwork {
        let network = ICENetwork(seed: seed)
        _ = network.add(roles.0, a)
        _ = network.add(roles.1, b, port: 50_000)
        network.notify(0, of: 1)
        network.notify(1, of: 0)
        return network
    }

    /// Changes a machine's addresses and tells its agent.
    func move(_ i: Int, to addresses: [String]) {
        nodes[i].addresses = addresses.map { IPAddress($0)! }
        nodes[i].agent.setLocalAddresses(nodes[i].addresses, at: now)
    }

    /// Runs for this many seconds.
    func run(_ seconds: Double) {
        let end = now.advanced(bySeconds: seconds)
        while let next = nextEvent(), next <= end {
            now = max(now, next)
            step()
        }
        now = end
        for i in nodes.indices where !nodes[i].isStopped { tick(i) }
    }

    /// Runs until a condition is true, at most this many seconds.
    /// - Returns: the seconds it took; nil if it did not happen.
    func run(until holds: (ICENetwork) -> Bool, within seconds: Double) -> Double? {
        let start = now
        let end = now.advanced(bySeconds: seconds)
        while !holds(self) {
            guard let next = nextEvent(), next <= end else { return nil }
            now = max(now, next)
            step()
        }
        return now.seconds(since: start)
    }

    func stop(_ i: Int) { nodes[i].isStopped = true }

    /// Resumes a stopped process: it receives the waiting datagrams, and all its timers are late.
    func resume(_ i: Int) {
        nodes[i].isStopped = false
        let waiting = nodes[i].waiting
        nodes[i].waiting = []
        for datagram in waiting { deliver(datagram, to: i) }
        tick(i)
    }

    private func nextEvent() -> HostTime? {
        let deadlines = nodes.filter { !$0.isStopped }.compactMap(\.agent.nextDeadline)
        return (deadlines + (flying.first.map { [$0.at] } ?? [])).min()
    }

    private func step() {
        while let datagram = flying.first, datagram.at <= now {
            flying.removeFirst()
            if let i = nodes.firstIndex(where: { $0.addresses.contains(datagram.to.address) }) {
                if nodes[i].isStopped { nodes[i].waiting.append(datagram) } else { deliver(datagram, to: i) }
            }
        }
        for i in nodes.indices where !nodes[i].isStopped && nodes[i].agent.nextDeadline.map({ $0 <= now }) ?? false {
            tick(i)
        }
    }

    private func tick(_ i: Int) {
        var sent: [Datagram] = []
        let (now, port) = (now, nodes[i].port)
        nodes[i].agent.tick(at: now) { bytes, from, to in
            sent.append(Datagram(at: now, from: SocketAddress(from, port: port), to: to, bytes: Array(bytes)))
        }
        if let next = nodes[i].agent.nextDeadline { #expect(next > now, "agent \(i) would tick for ever") }
        for datagram in sent { send(datagram, by: i) }
    }

    private func deliver(_ datagram: Datagram, to i: Int) {
        var sent: [Datagram] = []
        let (now, port) = (now, nodes[i].port)
        let result = datagram.bytes.withUnsafeBytes { bytes in
            nodes[i].agent.receive(bytes, from: datagram.from, to: datagram.to.address, at: now) { bytes, from, to in
                sent.append(Datagram(at: now, from: SocketAddress(from, port: port), to: to, bytes: Array(bytes)))
            }
        }
        received[result, default: 0] += 1
        for datagram in sent { send(datagram, by: i) }
    }

    private func send(_ datagram: Datagram, by i: Int) {
        nodes[i].sent += 1
        var datagram = datagram
        // A datagram from an address that the machine no longer has goes nowhere.
        guard nodes[i].addresses.contains(datagram.from.address) else { return }
        datagram.from = translated[datagram.from] ?? datagram.from
        inject(datagram)
    }

    /// Puts a datagram on the wire, as an attacker can.
    func inject(_ datagram: Datagram) {
        var datagram = datagram
        record.append(datagram)
        // Always the same number of draws, so that impairments are independent.
        let (lost, extra) = (random.unit(), random.unit())
        guard let path = path(datagram.from.address, datagram.to.address), lost >= path.loss else { return }
        if let inside = translated.first(where: { $0.value == datagram.to })?.key {
            datagram.to = inside
        } else if translated.keys.contains(datagram.to) {
            return  // behind a router nobody is reached by the address it has there
        }
        if case .v6(let bits, let scope) = datagram.from.address, scope != 0 {
            // A link has a different number on each machine.
            guard case .v6(let to, _) = datagram.to.address,
                let receiver = nodes.flatMap(\.addresses).first(where: { $0.withoutScope == .v6(to, scope: 0) }),
                case .v6(_, let theirs) = receiver
            else { return }
            datagram.from.address = .v6(bits, scope: theirs)
            datagram.to.address = receiver
        }
        datagram.at = now.advanced(bySeconds: path.delay + path.jitter * extra)
        let place = flying.firstIndex { $0.at > datagram.at } ?? flying.count
        flying.insert(datagram, at: place)
    }
}

extension ICENetwork {
    subscript(_ i: Int) -> ICEAgent { nodes[i].agent }

    /// Returns the pair that an agent uses while it is connected.
    func connection(_ i: Int) -> ICEPair? {
        if case .connected(let pair, _) = nodes[i].agent.state { pair } else { nil }
    }

    /// Returns true if both are connected by the same path, between an address of the one and an address of the other.
    func areConnected(_ a: String, _ b: String) -> Bool {
        guard let first = connection(0), let second = connection(1) else { return false }
        return first.local == IPAddress(a)! && first.remote.address == IPAddress(b)!
            && second.local == IPAddress(b)! && second.remote.address == IPAddress(a)!
    }

    /// True if both are connected by the same path.
    var areConnected: Bool {
        guard let first = connection(0), let second = connection(1) else { return false }
        return first.remote == SocketAddress(second.local, port: nodes[1].port)
            && second.remote == SocketAddress(first.local, port: nodes[0].port)
    }

    /// Returns an agent's state as one word.
    func state(_ i: Int) -> String {
        switch nodes[i].agent.state {
        case .checking: "checking"
        case .connected: "connected"
        case .disconnected: "disconnected"
        case .consentExpired: "expired"
        case .closed: "closed"
        }
    }
}
