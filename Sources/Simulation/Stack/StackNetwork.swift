// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// The network between the members' machines: addresses, reachability, and datagrams in flight.
final class StackNetwork {
    /// The machine of each address.
    private var owners: [IPAddress: Int] = [:]
    /// The number of cuts between two machines, and of cuts that block only datagrams.
    private var cuts: [[Int]]
    private var blocks: [[Int]]
    private var links: [[SimulatedLink]]
    private let flights = FlightQueue()
    /// The index in `addresses` of each socket address, by which datagrams in flight name it.
    private var numbers: [SocketAddress: Int] = [:]
    private var addresses: [SocketAddress] = []
    private let start: HostTime
    /// Descriptions of datagrams that no member may send: unencrypted or of an unknown kind.
    private(set) var clear: [String] = []
    /// Bytes that all members' messages contain, and that must not appear unencrypted on the network.
    var secret: [UInt8] = []
    /// The packet that is being protected and sent.
    var packet: UnsafeRawBufferPointer?
    private(set) var sent = 0

    init(machineCount: Int, _ profile: NetworkProfile, at start: HostTime, _ random: inout SeededRandom) {
        self.start = start
        cuts = Array(repeating: Array(repeating: 0, count: machineCount), count: machineCount)
        blocks = cuts
        let link = SimulatedLink(profile, seed: 0)
        links = (0..<machineCount).map { _ in (0..<machineCount).map { _ in link.reseeded(random.next()) } }
    }

    // MARK: Reachability

    func owner(of address: IPAddress) -> Int? { owners[address] }
    func setOwner(_ machine: Int?, of address: IPAddress) { owners[address] = machine }
    func isConnected(_ a: Int, _ b: Int) -> Bool { cuts[a][b] == 0 }

    /// Changes the number of cuts between two machines.
    func cut(_ a: Int, _ b: Int, by change: Int) {
        cuts[a][b] += change
        cuts[b][a] += change
    }

    func blockDatagrams(_ a: Int, _ b: Int, by change: Int) {
        blocks[a][b] += change
        blocks[b][a] += change
    }

    func setProfile(_ profile: NetworkProfile) {
        for from in links.indices { for to in links.indices { links[from][to].profile = profile } }
    }

    // MARK: Datagrams

    var inFlight: Int { flights.count }
    var nextArrival: HostTime { HostTime(nanoseconds: flights.nextArrival) }

    func send(_ datagram: UnsafeRawBufferPointer, by machine: Int, from: IPAddress, to: SocketAddress, at now: HostTime)
    {
        sent += 1
        check(datagram, by: machine)
        guard owners[from] == machine, let receiver = owners[to.address], cuts[machine][receiver] == 0,
            blocks[machine][receiver] == 0
        else { return }
        let fate = links[machine][receiver].send(
            byteCount: datagram.count, isMedia: true, at: now.nanoseconds - start.nanoseconds)
        let (source, target) = (number(of: SocketAddress(from, port: StackSimulation.port)), number(of: to))
        for arrival in [fate.arrival, fate.copy] {
            if let arrival { flights.insert(datagram, from: source, to: target, at: arrival + start.nanoseconds) }
        }
    }

    private func number(of address: SocketAddress) -> Int {
        if let number = numbers[address] { return number }
        addresses.append(address)
        numbers[address] = addresses.count - 1
        return addresses.count - 1
    }

    /// Delivers the datagrams that have arrived.
    func deliver(
        at now: HostTime,
        _ receive: (_ machine: Int, _ datagram: UnsafeMutableRawBufferPointer, SocketAddress, IPAddress) -> Void
    ) {
        while let arrival = flights.next(by: now.nanoseconds) {
            let target = addresses[arrival.to]
            if target.port == StackSimulation.port, let machine = owners[target.address] {
                receive(machine, arrival.bytes, addresses[arrival.from], target.address)
            }
            flights.recycle(arrival)
        }
    }

    // MARK: Encryption

    /// Records a datagram that is not STUN, DTLS or SRTP, or that contains a member's message or sound unencrypted.
    private func check(_ datagram: UnsafeRawBufferPointer, by machine: Int) {
        guard clear.count < 8 else { return }
        switch datagram.first ?? 255 {
        case 0...3: break
        case 20...63: if contains(datagram, secret) { clear.append("member \(machine) sent a message in clear") }
        case 128...191: if isPlain(datagram) { clear.append("member \(machine) sent sound in clear") }
        default: clear.append("member \(machine) sent a datagram of an unknown kind")
        }
    }

    /// Returns true if a datagram is unprotected: it has the first payload bytes of the packet being protected, is too short, or
    /// no packet is being protected.
    private func isPlain(_ datagram: UnsafeRawBufferPointer) -> Bool {
        guard let packet else { return true }
        let start = (try? RTPPacket(parsing: packet.bytes))?.payload.lowerBound ?? RTPPacket.headerSize
        let checked = start..<start + 12
        guard packet.count >= checked.upperBound else { return false }
        guard datagram.count >= checked.upperBound else { return true }
        return checked.allSatisfy { datagram[$0] == packet[$0] }
    }

    private func contains(_ datagram: UnsafeRawBufferPointer, _ bytes: [UInt8]) -> Bool {
        guard !bytes.isEmpty, datagram.count >= bytes.count else { return false }
        return bytes.withUnsafeBytes { wanted in
            (0...datagram.count - wanted.count).contains { start in
                datagram[start] == wanted[0]
                    && wanted.elementsEqual(UnsafeRawBufferPointer(rebasing: datagram[start..<start + wanted.count]))
            }
        }
    }
}
