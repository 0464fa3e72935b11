// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Collects the times of the packets that arrive in a window.
struct TransitWindow: Sendable {
    /// The times of a packet in nanoseconds, each on the clock of its side.
    struct Packet {
        var sent: Int64
        var arrived: Int64
        var transit: Int64 { arrived &- sent }
    }

    /// The seconds after which a window is complete.
    static let length = 0.1
    /// Later packets of a window are not used. Eight channels at the shortest packets stay below.
    private static let capacity = 256

    private var packets: [Packet] = []
    private var start = HostTime(nanoseconds: 0)

    /// The time at which the window is complete; nil if it is empty.
    var end: HostTime? { packets.isEmpty ? nil : start.advanced(bySeconds: Self.length) }

    /// Adds a packet. The first one begins the window.
    mutating func add(_ packet: Packet) {
        if packets.isEmpty { start = HostTime(nanoseconds: packet.arrived) }
        if packets.count < Self.capacity { packets.append(packet) }
    }

    /// Ends the window. Returns its fastest packet, and the mean of the half with the shortest transit times; nil if it is empty.
    mutating func close() -> (fastest: Packet, prompt: Packet)? {
        defer { packets.removeAll(keepingCapacity: true) }
        packets.sort { $0.transit < $1.transit }
        guard let fastest = packets.first else { return nil }
        let half = Int64(packets.count / 2 + packets.count % 2)
        var sent: Int64 = 0
        var transit: Int64 = 0
        for packet in packets.prefix(Int(half)) {
            sent &+= packet.sent &- fastest.sent
            transit &+= packet.transit &- fastest.transit
        }
        // Whole microseconds, so that the report to the peer and the own estimate use the same times.
        let meanSent = fastest.sent &+ sent / half / 1_000 * 1_000
        return (fastest, Packet(sent: meanSent, arrived: meanSent &+ fastest.transit &+ transit / half))
    }
}
