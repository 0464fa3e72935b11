// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotRooms

/// Rooms of two to eight peers with every disturbance of networks and machines, from seeds.
@Suite(.optimized) struct SimulationTests {
    /// `EARSHOT_SEEDS` sets others: the first, and how many.
    private static let seeds: Range<UInt64> = {
        let words =
            ProcessInfo.processInfo.environment["EARSHOT_SEEDS"]?.split(separator: " ").compactMap { UInt64($0) } ?? []
        return words.count == 2 ? words[0]..<words[0] + words[1] : 0..<100
    }()

    /// A founder, members, and one stranger whom nobody admits.
    private func room(_ seed: UInt64, members: Int, isEncoded: Bool = false) -> Network {
        let network = Network(seed: seed, peerCount: members + 1, isEncoded: isEncoded)
        network.peers[members].isStranger = true
        for peer in network.peers { peer.wantsIn = true }
        network.welcome.insert(network.peers[0].key.fingerprint)
        network.peers[0].found(RoomID(using: &network.random))
        for peer in network.peers { everySecond(network, peer) }
        return network
    }

    private func everySecond(_ network: Network, _ peer: Peer) {
        network.after(0.5 + network.random.unit()) {
            peer.look()
            peer.discover()
            if network.random.below(3) == 0 { peer.reunite() }
            peer.offerMedia()
            everySecond(network, peer)
        }
    }

    private func members(_ network: Network) -> [Peer] { network.peers.filter { !$0.isStranger } }

    /// Returns true if there is one host, everybody is admitted, all have the same roster without absent members, and each pair
    /// has media.
    private func isAtRest(_ network: Network) -> Bool {
        let members = members(network)
        guard members.count(where: \.isHost) == 1, let roster = members[0].roster, roster.members.count == members.count
        else {
            return false
        }
        return members.allSatisfy { peer in
            peer.roster == roster && (peer.isHost || peer.guest?.isConnected == true)
                && members.allSatisfy { $0 === peer || peer.hasSession(with: $0.key.fingerprint) }
        } && !roster.members.contains(where: \.isAway)
    }

    private func state(_ network: Network) -> String {
        network.peers.map { peer in
            let role =
                peer.isHost
                ? "host" : peer.guest?.isConnected == true ? "in" : peer.guest?.roster != nil ? "seeking" : "out"
            let roster =
                peer.roster.map { "\($0.epoch).\($0.revision) \($0.members.map { "\($0.id)\($0.isAway ? "-" : "")" })" }
                ?? ""
            let missing = network.peers.filter { $0 !== peer && !peer.hasSession(with: $0.key.fingerprint) }.map(
                \.index)
            return
                "\(peer.index): \(role) \(roster) without \(missing) \(peer.endings.suffix(3)) \(peer.offering.count)"
        }.joined(separator: "\n")
    }

    private func settles(_ network: Network, seed: UInt64, within seconds: Double = 200) {
        network.run(seconds) { isAtRest(network) }
        #expect(isAtRest(network), "seed \(seed):\n\(state(network))")
        // It stays that way.
        network.run(15)
        #expect(
            isAtRest(network) && network.faults.isEmpty, "seed \(seed): \(network.faults.prefix(3))\n\(state(network))")
        // Each member's roster has the muting, recording and consent that each member's user chose last.
        for peer in members(network) {
            let missing = members(network).filter { !peer.shows($0) }.map { "\($0.index): \($0.choices)" }
            #expect(missing.isEmpty, "seed \(seed): peer \(peer.index) has \(peer.roster?.members ?? [])")
        }
    }

    @Test(arguments: 0..<UInt64(20))
    func `all peers are admitted, and agree on the roster`(seed: UInt64) {
        let network = room(seed, members: 2 + Int(seed % 7), isEncoded: seed % 4 == 0)
        settles(network, seed: seed, within: 40)
    }

    @Test(arguments: 0..<UInt64(20))
    func `broken connections are re-established`(seed: UInt64) {
        let network = room(seed, members: 2 + Int(seed % 7), isEncoded: seed % 4 == 0)
        for second in 0..<60 { network.after(Double(second)) { for _ in 0..<3 { network.breakConnection() } } }
        network.run(60)
        settles(network, seed: seed)
    }

    @Test(arguments: 0..<UInt64(40))
    func `another peer becomes host and admits guests after the host's process is killed`(seed: UInt64) {
        let network = room(seed, members: 3 + Int(seed % 6), isEncoded: seed % 8 == 0)
        network.run(60) { isAtRest(network) }
        let old = network.peers[0]
        old.crash()
        network.run(5)
        let hosts = network.peers.filter(\.isHost)
        #expect(hosts.count == 1 && hosts.first?.roster?.epoch == Epoch(2), "seed \(seed)\n\(state(network))")
        network.run(60)
        old.restart()
        settles(network, seed: seed)
    }

    @Test(arguments: 0..<UInt64(30))
    func `the room continues promptly after the host leaves`(seed: UInt64) {
        let network = room(seed, members: 3 + Int(seed % 6), isEncoded: seed % 8 == 0)
        network.run(60) { isAtRest(network) }
        network.peers[0].wantsIn = false
        network.peers[0].leave()
        network.run(1.5)
        let others = members(network).dropFirst()
        #expect(
            others.count(where: \.isHost) == 1 && others.allSatisfy { $0.roster?.epoch == Epoch(2) },
            "seed \(seed)\n\(state(network))")
        network.peers[0].wantsIn = true
        settles(network, seed: seed)
    }

    @Test(arguments: 0..<UInt64(30))
    func `a peer that was cut off for 20 s returns to its place`(seed: UInt64) throws {
        let network = room(seed, members: 3 + Int(seed % 6), isEncoded: seed % 8 == 0)
        network.run(60) { isAtRest(network) }
        let cut = members(network)[Int(seed) % members(network).count]
        let before = cut.roster?.member(with: cut.key.fingerprint)?.id
        network.part[cut.index] = 1
        network.run(20)
        network.part[cut.index] = 0
        network.run(40) { isAtRest(network) }
        #expect(isAtRest(network) && cut.endings.isEmpty, "seed \(seed)\n\(state(network))")
        #expect(cut.roster?.member(with: cut.key.fingerprint)?.id == before)
        settles(network, seed: seed)
    }

    @Test(arguments: 0..<UInt64(40))
    func `a room that splits is reported, and never merged silently`(seed: UInt64) {
        let network = room(seed, members: 4 + Int(seed % 5), isEncoded: seed % 8 == 0)
        network.run(60) { isAtRest(network) }
        for peer in network.peers { network.part[peer.index] = network.random.below(2 + Int(seed % 2)) }
        network.run(20 + network.random.unit() * 100)
        let hosts = members(network).filter(\.isHost)
        network.part = network.part.map { _ in 0 }
        settles(network, seed: seed)
        // A former host was told the name of the other part's host.
        for peer in hosts where !peer.isHost { #expect(!peer.splits.isEmpty || peer.returns > 0, "seed \(seed)") }
    }

    @Test(arguments: [5.0, 30, 90], 0..<UInt64(12))
    func `a stopped process does not affect the other peers`(seconds: Double, seed: UInt64) {
        let network = room(seed, members: 3 + Int(seed % 6))
        network.run(60) { isAtRest(network) }
        let stopped = members(network)[Int(seed) % members(network).count]
        stopped.stop()
        network.run(seconds)
        let others = members(network).filter { $0 !== stopped }
        // The others have agreed without it.
        #expect(Set(others.map(\.roster?.host)).count == 1, "seed \(seed)\n\(state(network))")
        stopped.resume()
        settles(network, seed: seed)
    }

    @Test(arguments: seeds)
    func `the room settles after random failures of all kinds`(seed: UInt64) {
        let network = room(1_000 + seed, members: 2 + Int(seed % 7), isEncoded: seed % 10 == 0)
        for _ in 0..<(5 + network.random.below(25)) {
            network.after(network.random.unit() * 120) {
                let peer = self.members(network)[network.random.below(self.members(network).count)]
                switch network.random.below(8) {
                case 0: network.part[peer.index] = network.random.below(3)
                case 1: network.part = network.part.map { _ in 0 }
                case 2: network.breakConnection()
                case 3:
                    peer.crash()
                    network.after(network.random.unit() * 30) { peer.restart() }
                case 4:
                    peer.stop()
                    network.after(network.random.unit() * 90) { if peer.isStopped { peer.resume() } }
                case 5: peer.leave()
                case 6: peer.choose()
                default: for _ in 0..<10 { network.breakConnection() }
                }
            }
        }
        network.run(220)
        network.part = network.part.map { _ in 0 }
        // A room that everybody has left has ended; another one is opened.
        if !members(network).contains(where: { $0.roster != nil }) {
            network.peers[0].found(RoomID(using: &network.random))
        }
        settles(network, seed: seed)
    }
}
