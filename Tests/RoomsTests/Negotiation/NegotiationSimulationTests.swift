// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotRooms

/// Rooms of two to four peers that negotiate media through delay, loss, restarts and changes, from seeds.
@Suite(.optimized) struct NegotiationSimulationTests {
    /// `EARSHOT_SEEDS` sets others: the first, and how many.
    private static let seeds = chosenSeeds ?? 0..<2_000
    private static let crossingSeeds = chosenSeeds ?? 0..<2_000
    private static let chosenSeeds: Range<UInt64>? = {
        let words =
            ProcessInfo.processInfo.environment["EARSHOT_SEEDS"]?.split(separator: " ").compactMap { UInt64($0) } ?? []
        return words.count == 2 ? words[0]..<words[0] + words[1] : nil
    }()

    /// Seconds to agree after the last disturbance: a lost offer, which fails after 10 s, is repeated 15 s later, at most twice.
    private static let bound = 55.0

    @Test func `after random failures each pair agrees or has a reason not to, and sends nothing more`() {
        var (failures, restarts, renegotiations): ([String], Int, Int) = ([], 0, 0)
        for seed in Self.seeds {
            let failure = simulate(seed) { network, node in
                switch network.random.below(8) {
                case 0, 1:
                    guard node.isRunning, node.id != nil else { return }
                    network.crash(node)
                    restarts += 1
                    network.after(network.random.unit() * 8) { if !node.isRunning { network.join(node) } }
                case 2:
                    guard node.isRunning, node.id != nil else { return }
                    network.leave(node)
                    network.after(network.random.unit() * 8) { if node.id == nil { network.join(node) } }
                case 3:
                    network.setAway(node, true)
                    network.after(network.random.unit() * 12) { network.setAway(node, false) }
                case 4: network.failTransport(of: node)
                default:
                    guard node.isRunning else { return }
                    Self.renegotiate(node)
                    renegotiations += 1
                }
            }
            if let failure { failures.append(failure) }
        }
        #expect(failures.isEmpty, "\(failures.count): \(failures.prefix(5).joined(separator: "\n"))")
        #expect(restarts > Self.seeds.count && renegotiations > 2 * Self.seeds.count, "\(restarts) \(renegotiations)")
    }

    /// An offer that its offerer gave up arrives after the answer that it gave instead.
    @Test func `pairs that renegotiate simultaneously end in one session`() {
        let failures = Self.crossingSeeds.compactMap { seed in
            simulate(seed) { _, node in Self.renegotiate(node) }
        }
        #expect(failures.isEmpty, "\(failures.count): \(failures.prefix(5).joined(separator: "\n"))")
    }

    private static func renegotiate(_ node: NegotiationNode) {
        node.media += 1
        for member in node.core.members { node.handle(.renegotiate(member.id)) }
    }

    /// - Parameter trouble: happens to a random node at a random time.
    /// - Returns: the fault at the end; nil if there is none.
    private func simulate(
        _ seed: UInt64, trouble: @escaping (NegotiationNetwork, NegotiationNode) -> Void
    ) -> String? {
        let network = NegotiationNetwork(seed: seed, count: 2 + Int(seed % 3))
        network.loss = seed % 4 == 0 ? 0 : network.random.unit() * 0.5
        // Every fifth room has peers without a common format.
        if seed % 5 == 0 { network.nodes[1].formats = 0b100 }
        if seed % 10 == 0 { for node in network.nodes { node.endsOffers = true } }
        for node in network.nodes { network.after(network.random.unit() * 3) { network.join(node) } }
        for _ in 0..<network.random.below(24) {
            network.after(1 + network.random.unit() * 60) {
                trouble(network, network.nodes[network.random.below(network.nodes.count)])
            }
        }
        network.run(75)
        network.loss = 0
        network.run(Self.bound)
        let late = network.unsettled
        let offers = network.offerCount
        network.run(60)
        // A peer that refused is asked again at most every 15 s.
        let allowed = seed % 5 == 0 ? 2 * 2 * (network.nodes.count - 1) * 4 : 0
        guard !late.isEmpty || !network.faults.isEmpty || network.offerCount - offers > allowed else { return nil }
        return "\(seed): \(late) \(network.faults) \(network.offerCount - offers) offers after it"
    }
}
