// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotMediaTransport

extension CallSimulation {
    /// Adds a peer to the call.
    package mutating func enter(_ peer: Int) throws {
        for other in peers.indices where isIn[other] {
            try connect(peer, other)
            try connect(other, peer)
        }
        isIn[peer] = true
    }

    private mutating func connect(_ peer: Int, _ other: Int) throws {
        guard let configuration = negotiated[peer][other] else { return }
        try peers[peer].add(PeerID(other), session: Self.session(configuration, &random), configuration)
    }

    /// Removes a peer from the call; the others are notified and remove it.
    package mutating func leave(_ peer: Int) throws {
        let time = now
        isIn[peer] = false
        for other in peers.indices where isIn[other] {
            peers[peer].remove(PeerID(other), at: time) { datagram, _ in
                send(datagram, from: peer, to: other, at: time)
            }
            peers[other].remove(PeerID(peer), at: time) { _, _ in }
        }
    }

    /// Sends a goodbye from a peer to all others, although the peer stays in the call.
    package mutating func sayGoodbye(_ peer: Int) {
        let time = now
        peers[peer].sayGoodbye(at: time) { send($0, from: peer, to: $1.rawValue, at: time) }
    }

    /// Restarts a peer's program.
    package mutating func restart(_ peer: Int) throws {
        for other in peers.indices where other != peer && isIn[other] {
            guard let configuration = negotiated[peer][other] else { continue }
            try peers[peer].restart(PeerID(other), session: Self.session(configuration, &random))
        }
    }

    /// Renegotiates media between two peers: the configuration, or the one negotiated at first if nil, and the direction as peer
    /// `a` sees it.
    package mutating func renegotiate(
        _ a: Int, _ b: Int, _ configuration: CallConfiguration? = nil,
        direction: SessionDescription.Direction = .sendReceive
    ) throws {
        for (peer, other, direction) in [(a, b, direction), (b, a, direction.mirrored)] {
            if direction == .inactive {
                peers[peer].suspend(PeerID(other))
            } else if let new = configuration ?? negotiated[peer][other] {
                let session = Self.session(new, &random)
                try peers[peer].add(PeerID(other), session: session, new, direction: direction)
            }
        }
    }
}

extension CallSimulation {
    /// The network on every path; a change applies to all paths.
    package var network: NetworkProfile {
        get { links[0][1].profile }
        set { for from in links.indices { for to in links.indices { links[from][to].profile = newValue } } }
    }

    /// The traffic of all paths.
    package var traffic: SimulatedLink.Counts {
        links.joined().reduce(SimulatedLink.Counts()) { $0 + $1.counts }
    }
}
