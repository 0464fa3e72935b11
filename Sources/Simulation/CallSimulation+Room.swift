// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotMediaTransport

extension CallSimulation {
    /// Brings a peer into the call, with all that are in it.
    package mutating func enter(_ peer: Int) throws {
        for other in peers.indices where isIn[other] {
            try connect(peer, other)
            try connect(other, peer)
        }
        isIn[peer] = true
    }

    private mutating func connect(_ peer: Int, _ other: Int) throws {
        guard let configuration = agreed[peer][other] else { return }
        try peers[peer].add(PeerID(other), session: Self.session(configuration, &random), configuration)
    }

    /// Takes a peer out of the call; the others are told, and let go of it.
    package mutating func leave(_ peer: Int) throws {
        let at = now
        isIn[peer] = false
        for other in peers.indices where isIn[other] {
            peers[peer].remove(PeerID(other), at: at) { datagram, _ in send(datagram, from: peer, to: other, at: at) }
            peers[other].remove(PeerID(peer), at: at) { _, _ in }
        }
    }

    /// Says goodbye from one peer, which stays.
    package mutating func sayGoodbye(_ peer: Int) {
        let at = now
        peers[peer].sayGoodbye(at: at) { send($0, from: peer, to: $1.rawValue, at: at) }
    }

    /// One peer's program began anew.
    package mutating func restart(_ peer: Int) throws {
        for other in peers.indices where other != peer && isIn[other] {
            guard let configuration = agreed[peer][other] else { continue }
            try peers[peer].restart(PeerID(other), session: Self.session(configuration, &random))
        }
    }

    /// Two peers agree anew: in what form sound goes, and whether it goes from the first to the second, and back.
    package mutating func renegotiate(
        _ a: Int, _ b: Int, _ configuration: CallConfiguration? = nil,
        direction: SessionDescription.Direction = .sendReceive
    ) throws {
        for (peer, other, direction) in [(a, b, direction), (b, a, direction.mirrored)] {
            if direction == .inactive {
                peers[peer].suspend(PeerID(other))
            } else if let new = configuration ?? agreed[peer][other] {
                let session = Self.session(new, &random)
                try peers[peer].add(PeerID(other), session: session, new, direction: direction)
            }
        }
    }
}

extension CallSimulation {
    /// The network of each path, the same for all.
    package var network: NetworkProfile {
        get { links[0][1].profile }
        set { for from in links.indices { for to in links.indices { links[from][to].profile = newValue } } }
    }

    /// The traffic of all paths.
    package var traffic: SimulatedLink.Counts {
        links.joined().reduce(SimulatedLink.Counts()) { $0 + $1.counts }
    }
}
