import BenchReports
import Foundation
import MediaTransport

// transport-bench [--check] [TOPIC…]: what protecting media costs. Topics: packets, handshake.
do {
    let topics = try Topics(Array(CommandLine.arguments.dropFirst()), topics: ["packets", "handshake"])
    let identities = (
        try Identity.generate(at: Int64(Date.now.timeIntervalSince1970)),
        try Identity.generate(at: Int64(Date.now.timeIntervalSince1970))
    )
    let isFine = try topics.run { topic in
        guard topic == "packets" else { return try HandshakeCost.reports() }
        let peers = try Peers(identities.0, identities.1)
        peers.shakeHands()
        return try [100, 300, 1_172].flatMap { try PacketCost(size: $0).reports(peers) }
    }
    exit(isFine ? 0 : 1)
} catch {
    print("transport-bench: \(error)")
    exit(1)
}
