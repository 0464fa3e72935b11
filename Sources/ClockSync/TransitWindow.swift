// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Collects the times of the packets that arrive in a window.
///
/// Its typical transit time is the mean of the transit times between the 70th and the 90th percentile, as they would be without other
/// packets. A network that keeps the order holds a packet up until those before it have arrived. So packets that follow each other
/// closely take longer, and two peers whose packets differ in number would see a difference of their clocks. A packet that arrives
/// together with the one before was held up: its own transit time is unknown, but not longer than the one seen. The distribution is
/// therefore estimated by the product-limit estimator, reversed in time for observations that are censored on the left (E. Kaplan,
/// P. Meier, "Nonparametric estimation from incomplete observations", 1958).
struct TransitWindow: Sendable {
    /// The times of a packet in nanoseconds, each on the clock of its side.
    struct Packet {
        var sent: Int64
        var arrived: Int64
        fileprivate(set) var isHeld = false
        fileprivate(set) var isOvertaken = false
        /// The transit time; if the packet was held up, the longest that it can have had by itself.
        fileprivate(set) var limit: Int64 = 0
        var transit: Int64 { arrived &- sent }

        init(sent: Int64, arrived: Int64) { (self.sent, self.arrived) = (sent, arrived) }
    }

    /// The seconds after which a window is complete.
    static let length = 0.1
    /// Later packets of a window are not used. Eight channels at the shortest packets stay below.
    private static let capacity = 256
    /// The nanoseconds after another arrival within which a packet counts as held up by that one.
    private static let heldTime: Int64 = 50_000
    /// A packet that arrives within these nanoseconds after one that was sent later was overtaken. Later, the sender's clock was set
    /// back.
    private static let overtakingTime: Int64 = 100_000_000
    /// The shares of all transit times between which they are typical. Shorter ones are rare among packets that follow each other
    /// closely, and longer ones vary more.
    private static let typicalShares = 0.7...0.9

    /// The nanoseconds after the fastest packet from which packets are not used: a clock was set between them.
    static let longestDelay: Int64 = 1_000_000_000

    private var packets: [Packet] = []
    private var start = HostTime(nanoseconds: 0)
    private var last = Packet(sent: .min, arrived: .min)  // that can hold up others
    private var newest = Packet(sent: .min, arrived: .min)  // by its send time

    /// The time at which the window is complete; nil if it is empty.
    var end: HostTime? { packets.isEmpty ? nil : start.advanced(bySeconds: Self.length) }

    /// Adds a packet. The first one begins the window.
    mutating func add(_ new: Packet) {
        var packet = new
        packet.isOvertaken =
            packet.sent < newest.sent && (0..<Self.overtakingTime).contains(packet.arrived &- newest.arrived)
        packet.limit = packet.transit
        if !packet.isOvertaken {
            let wait = packet.arrived &- last.arrived
            packet.isHeld = packet.sent >= last.sent && (0...Self.heldTime).contains(wait)
            if packet.isHeld { packet.limit = packet.transit &+ Self.heldTime &- wait }
            (last, newest) = (packet, packet)
        }
        if packets.isEmpty { start = HostTime(nanoseconds: packet.arrived) }
        if packets.count < Self.capacity { packets.append(packet) }
    }

    /// Notes the arrival of a packet without a send time, which may hold up others.
    mutating func noteOther(arrived: Int64) { last = Packet(sent: .min, arrived: arrived) }

    /// Ends the window. Returns its fastest packet, one sent at the same time with the typical transit time, and the transit times of
    /// the packets that were not overtaken; nil if it is empty.
    mutating func close() -> (fastest: Packet, typical: Packet, transits: [ReportedTransit])? {
        defer { packets.removeAll(keepingCapacity: true) }
        guard let least = packets.lazy.map(\.transit).min() else { return nil }
        let used = packets.lazy.filter { !$0.isOvertaken && $0.transit &- least < Self.longestDelay }
        let transits = used.prefix(ReportedTransit.maximumCount)
            .map { ReportedTransit(nanoseconds: $0.limit &- least, isHeld: $0.isHeld) }
        packets.sort { $0.transit < $1.transit }
        guard let fastest = packets.first else { return nil }
        while let last = packets.last, last.transit &- fastest.transit >= Self.longestDelay { packets.removeLast() }
        let typical = Packet(sent: fastest.sent, arrived: fastest.arrived &+ typicalDelay(after: fastest))
        return (fastest, typical, Array(transits))
    }

    /// Returns the nanoseconds by which the typical transit time exceeds that of the fastest packet.
    private func typicalDelay(after fastest: Packet) -> Int64 {
        let packets = packets.filter { !$0.isOvertaken }
        var (sum, weight) = (0.0, 0.0)
        var share = 1.0  // of the transit times up to the present one
        for index in packets.indices.reversed() where !packets[index].isHeld {
            let below = share * (1 - 1 / Double(index + 1))
            let part = min(share, Self.typicalShares.upperBound) - max(below, Self.typicalShares.lowerBound)
            if part > 0 {
                sum += part * Double(packets[index].transit &- fastest.transit)
                weight += part
            }
            share = below
        }
        return weight > 0 ? Int64(sum / weight) : 0
    }
}
