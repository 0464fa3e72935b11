// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotRooms

/// A `MediaPort` on virtual time: the same core, on the simulated network. Orders reach the media thread, and events the session,
/// after at most 1 ms. Until then they keep the process object alive, even after the process has ended.
final class SimulatedPort: TransportPort {
    private unowned let world: StackSimulation
    private unowned let process: MemberProcess
    private var core: MediaPortCore
    private var orders: [MediaPortCore.Order] = []
    private var lastTransport: UInt64 = 0
    private var lastEventTime = HostTime(nanoseconds: 0)
    private var random: SeededRandom
    private(set) var due = HostTime.never
    private(set) var turns = 0
    /// The last 64 messages of remote peers, in the order of arrival.
    private(set) var messages: [(peer: PeerID, bytes: [UInt8])] = []

    init(_ world: StackSimulation, _ process: MemberProcess, client: (any MediaClient)?, seed: UInt64) {
        self.world = world
        self.process = process
        random = SeededRandom(seed: seed)
        let portReference = PortReference()
        core = MediaPortCore(
            identity: process.member.identity, client: client, generator: SeededRandom(seed: random.next())
        ) {
            portReference.port?.notify($0)
        } deliverMessage: {
            portReference.port?.keep($1, from: $0)
        }
        portReference.port = self
        core.setLocalAddresses(process.member.addresses, at: world.now)
    }

    /// The port that receives the core's events.
    private final class PortReference { weak var port: SimulatedPort? }

    // MARK: Other threads

    func add(_ peer: PeerID, _ setup: LocalTransportParameters) -> MediaPort.TransportID {
        lastTransport += 1
        let transportID = MediaPort.TransportID(number: lastTransport)
        enqueue(.add(peer, setup, transportID))
        return transportID
    }

    func setRemote(_ remote: RemoteTransportParameters, of peer: PeerID) { enqueue(.setRemote(peer, remote)) }

    func remove(_ peer: PeerID) { enqueue(.remove(peer)) }

    func send(_ message: [UInt8], to peer: PeerID) { enqueue(.message(peer, message)) }

    func report(of peer: PeerID) -> MediaPortReport? { core.report(of: peer) }

    var peers: [PeerID] { core.peers }

    private func keep(_ message: [UInt8], from peer: PeerID) { messages = messages.suffix(63) + [(peer, message)] }

    private func enqueue(_ order: MediaPortCore.Order) {
        orders.append(order)
        if orders.count == 1 { world.after(0.001 * random.unit()) { [process] in process.port.turn() } }
    }

    private func notify(_ event: MediaPortEvent) {
        lastEventTime = max(lastEventTime, world.now.advanced(bySeconds: 0.001 * random.unit()))
        world.agenda.add(lastEventTime) { [process] in process.handle(event) }
    }

    // MARK: The media thread

    /// Executes orders, sends media, and does what is due.
    func turn() {
        guard process.isRunning else { return }
        turns += 1
        let taken = orders
        orders = []
        for order in taken { core.execute(order, at: world.now, transmit) }
        core.turn(at: world.now, transmit)
        follow()
    }

    func receive(_ datagram: UnsafeMutableRawBufferPointer, from source: SocketAddress, to local: IPAddress) {
        core.receive(datagram, from: source, to: local, at: world.now, transmit)
        follow()
    }

    func setLocalAddresses(_ addresses: [IPAddress]) {
        core.setLocalAddresses(addresses, at: world.now)
        turn()
    }

    /// Closes all transports when the process ends properly.
    func stop() { core.removeAll(at: world.now, transmit) }

    /// Schedules the media thread's next turn. The thread sleeps for at least a microsecond; otherwise a core that is always due
    /// would block the simulation.
    private func follow() {
        due = core.nextDeadline.map { max($0, HostTime(nanoseconds: world.now.nanoseconds + 1_000)) } ?? .never
    }

    private func transmit(_ datagram: UnsafeRawBufferPointer, _ local: IPAddress, _ remote: SocketAddress) {
        var datagram = datagram
        if process.defect == .sendsClear, let packet = world.network.packet { datagram = packet }
        world.network.send(datagram, by: process.member.index, from: local, to: remote, at: world.now)
    }
}

extension HostTime {
    static let never = HostTime(nanoseconds: .max)
}
