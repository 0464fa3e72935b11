// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotRooms

/// Two peers that act before either has heard from the other: both orders of arrival of each pair of messages.
@Suite struct NegotiationCrossingTests {
    /// The state before messages cross.
    enum Start: CaseIterable {
        /// Media flows.
        case running
        /// The newcomer's offer is on its way.
        case offered
        /// The newcomer's offer was lost.
        case unconnected
    }

    /// The message that one peer has sent.
    enum Act: CaseIterable {
        case offer, answer, refusal, declining, lostOffer, end, leave, rejoin, away, awayAndBack, crash,
            transportFailure
        case nothing
    }

    struct Case: CustomTestStringConvertible {
        let start: Start
        let first: Act
        let second: Act

        var testDescription: String { "\(start): \(first), \(second)" }
    }

    static let cases = Start.allCases.flatMap { start in
        Act.allCases.flatMap { first in Act.allCases.map { Case(start: start, first: first, second: $0) } }
    }

    @Test(arguments: cases) func `two peers agree on a session whichever of their actions cross`(_ test: Case) {
        var failures: [String] = []
        for (olderActsFirst, olderHearsFirst) in [(true, true), (true, false), (false, true), (false, false)] {
            let network = NegotiationNetwork(seed: 1, count: 2)
            network.latency = olderHearsFirst ? [0.01, 0.05] : [0.05, 0.01]
            let (older, newer) = (network.nodes[0], network.nodes[1])
            network.join(older)
            network.loss = test.start == .unconnected ? 1 : 0
            network.join(newer)
            network.loss = 0
            if test.start == .running { network.run(30) }
            let (one, other) = olderActsFirst ? (older, newer) : (newer, older)
            perform(test.first, one, other, network)
            perform(test.second, other, one, network)
            network.run(40)
            for node in network.nodes {
                if node.id == nil || !node.isRunning { network.join(node) }
                network.setAway(node, false)
            }
            network.run(50)
            let (unsettled, offers) = (network.unsettled, network.offerCount)
            network.run(60)
            if !unsettled.isEmpty || !network.faults.isEmpty || network.offerCount != offers {
                failures.append(
                    "\(olderActsFirst) \(olderHearsFirst): \(unsettled) \(network.faults) \(network.offerCount - offers)"
                )
            }
        }
        #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
    }

    private func perform(_ act: Act, _ node: NegotiationNode, _ other: NegotiationNode, _ network: NegotiationNetwork) {
        guard node.id != nil else { return }
        switch act {
        case .offer: renegotiate(node, other)
        case .answer: answer(node, other, network)
        case .refusal, .declining:
            node.formats = 0b100
            node.endsOffers = act == .declining
            answer(node, other, network)
            // Its user chooses a common format.
            network.after(20) {
                node.formats = 0b11
                renegotiate(node, other)
            }
        case .lostOffer:
            network.loss = 1
            renegotiate(node, other)
            network.loss = 0
        case .end: end(node, other, network)
        case .leave: network.leave(node)
        case .rejoin:
            network.leave(node)
            network.join(node)
        case .away: network.setAway(node, true)
        case .awayAndBack:
            network.setAway(node, true)
            network.after(0.2) { network.setAway(node, false) }
        case .crash: network.crash(node)
        case .transportFailure: network.failTransport(of: node)
        case .nothing: break
        }
    }

    private func renegotiate(_ node: NegotiationNode, _ other: NegotiationNode) {
        node.media += 1
        if let member = other.id { node.handle(.renegotiate(member)) }
    }

    /// The other peer offers; time passes until the node has answered.
    private func answer(_ node: NegotiationNode, _ other: NegotiationNode, _ network: NegotiationNetwork) {
        renegotiate(other, node)
        network.run(0.001 + (network.latency?[node.index] ?? 0))
    }

    private func end(_ node: NegotiationNode, _ other: NegotiationNode, _ network: NegotiationNetwork) {
        guard let member = other.id, let session = node.core.session(with: member) else { return }
        node.handle(.sessionEnded(session))
        network.sendEnd(session, to: member, from: node)
        network.after(20) { renegotiate(node, other) }
    }
}
