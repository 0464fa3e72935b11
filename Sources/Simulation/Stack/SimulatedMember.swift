// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotRooms

/// A machine of a ``StackSimulation`` with its user: an identity, addresses, known peers, and a running process of Earshot, if
/// any.
final class SimulatedMember {
    let index: Int
    let identity: Identity
    private unowned let world: StackSimulation
    private(set) var addresses: [IPAddress] = []
    private(set) var process: MemberProcess?
    var name: PeerName
    var isMuted = false
    var knownPeers = KnownPeers()
    /// True if the user wants to be in the room.
    var wantsIn = true
    /// True while the machine is off.
    private(set) var isOff = false
    /// The time since which the user has wanted to be in a room without being connected to one; nil otherwise.
    private var lostSince: HostTime?
    /// The other parts of the room that were reported to the user.
    var splits: [RoomInfo] = []
    /// The addresses that the machine has drawn so far.
    private var moves = 0
    private var random: SeededRandom

    init(_ index: Int, _ world: StackSimulation, seed: UInt64) throws {
        self.index = index
        self.world = world
        random = SeededRandom(seed: seed)
        name = try PeerName("Member \(index)")
        identity = try Identity.generate(at: 1_800_000_000)
    }

    // MARK: Machine

    /// Starts a process, with another seed each time.
    func start() throws {
        isOff = false
        if addresses.isEmpty { setAddresses([nextAddress()]) }
        process = try MemberProcess(self, world, seed: random.next())
    }

    /// Ends the process without leaving the room.
    func crash() {
        guard let process else { return }
        self.process = nil
        process.end(silently: false)
        splits = []
    }

    /// Makes the machine vanish without notice.
    func losePower() {
        isOff = true
        let process = process
        self.process = nil
        process?.end(silently: true)
        setAddresses([])
        splits = []
    }

    /// Changes the machine's address after a time without one.
    func move(gap: Double) {
        guard !isOff else { return }
        setAddresses([])
        updateAddresses()
        world.after(gap) { [self] in
            guard !isOff, addresses.isEmpty else { return }
            setAddresses([nextAddress()])
            updateAddresses()
        }
    }

    private func setAddresses(_ new: [IPAddress]) {
        for address in addresses { world.network.setOwner(nil, of: address) }
        addresses = new
        for address in addresses { world.network.setOwner(index, of: address) }
    }

    /// Notifies the process of the addresses with a delay, as the kernel does.
    private func updateAddresses() {
        let notifiedProcess = process
        world.after(0.05 + 0.2 * random.unit()) { [self] in
            if let process, process === notifiedProcess { process.addressesChanged(addresses) }
        }
    }

    /// Returns an address for the machine: usually a new one, sometimes one that any machine may have had before.
    private func nextAddress() -> IPAddress {
        moves += 1
        let shared = IPAddress.v4(0x0A0A_0001 + UInt32(random.next() % 3))
        if random.next() % 4 == 0, world.network.owner(of: shared) == nil { return shared }
        return .v4(0x0A00_0000 + UInt32(index) << 8 + UInt32(moves % 200) + 1)
    }

    // MARK: User

    /// Acts as the user about once a second: looks for a room, handles discovered rooms, and sometimes reunites a split room.
    func live() {
        lookForRoom()
        process?.discover()
        if random.next() % 3 == 0 { reunite() }
        world.after(0.7 + 0.6 * random.unit()) { [self] in live() }
    }

    /// The seconds without a connection to a room after which one of two members opens a new room or joins the other's. A single
    /// guest cannot distinguish a vanished host from a failed network, and waits for the host. If there are several guests, one
    /// takes over.
    private static let roomTimeout = 3.0

    private func lookForRoom() {
        guard wantsIn, let process, !process.isConnected else { return lostSince = nil }
        let since = lostSince ?? world.now
        lostSince = since
        let isHopeless = world.members.count == 2 && world.now.seconds(since: since) > Self.roomTimeout
        let host = world.members.first { other in
            other !== self && other.process?.isHost == true && world.reaches(index, other.index)
        }
        if process.isIdle {
            let isFirst = world.members.first { $0.process != nil && $0.wantsIn } === self
            let isAnybodyIn = world.members.contains {
                guard let process = $0.process else { return false }
                return isHopeless ? process.isConnected : !process.isIdle
            }
            if let host {
                process.join(host)
            } else if isFirst, !isAnybodyIn {
                process.foundRoom()
            }
        } else if isHopeless, let room = process.core.roster?.room, let other = host?.process?.core.roster?.room,
            other != room
        {
            process.leave()
        }
    }

    /// Leaves the room if this member hosts a part of a split room, and can reach a host of another part that has a lower index.
    /// The member then joins that part.
    private func reunite() {
        guard let process, process.isHost, let room = process.core.roster?.room else { return }
        let isReachable = splits.contains { info in
            info.room == room
                && world.members.prefix(index).contains {
                    $0.identity.fingerprint == info.hostKey && $0.process?.isHost == true
                        && $0.process?.core.roster?.room == room && world.reaches(index, $0.index)
                }
        }
        if isReachable { process.leave() }
    }

    func update() {
        if random.next() % 2 == 0 {
            isMuted.toggle()
        } else if let other = try? PeerName("Member \(index) \(random.next() % 10)") {
            name = other
        }
        process?.update()
    }

    /// Returns the seconds until the user decides on a guest.
    func decisionTime() -> Double { 0.2 + 2 * random.unit() }
}
