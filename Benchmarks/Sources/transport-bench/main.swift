// SPDX-License-Identifier: Apache-2.0

import BenchReports
import Foundation

// transport-bench [--check] [--long] [TOPIC…]: what protecting and carrying media costs. Topics: packets, handshake, delay,
// hostile, room.
do {
    let topics = try Topics(
        Array(CommandLine.arguments.dropFirst()), topics: ["packets", "handshake", "delay", "hostile", "room"])
    let isFine = try topics.run { topic in
        switch topic {
        case "handshake": try HandshakeCost.reports()
        case "delay": try AddedDelay(seconds: topics.isLong ? 30 : 3).reports()
        case "room": try RoomCost(seconds: topics.isLong ? 10 : 1).reports()
        case "hostile":
            try HostileCost.reports() + HostileFlood(count: topics.isLong ? 1_000_000 : 150_000).reports()
                + (topics.isLong ? HostileFlood(count: 1_000_000, rate: nil).reports() : [])
        default:
            try [20, 100, 300, 600, 1_200].flatMap { try PacketCost(size: $0).reports() }
                + [100, 300, 1_200].flatMap { try SocketCost(size: $0).reports() }
        }
    }
    exit(isFine ? 0 : 1)
} catch {
    print("transport-bench: \(error)")
    exit(1)
}
