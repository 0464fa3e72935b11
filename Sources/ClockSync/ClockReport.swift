// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The send and arrival time of a packet, or of a window's typical one.
package struct PacketTime: Hashable, Sendable, BitwiseCopyable {
    /// The sender's clock when it sent the packet: the low 32 bits of its microseconds (``EarshotAudioBase/HostTime/wireMicroseconds``).
    package var sent: UInt32
    /// The receiver's clock when the packet arrived.
    package var arrived: HostTime

    /// Creates a pair of times.
    package init(sent: UInt32, arrived: HostTime) {
        self.sent = sent
        self.arrived = arrived
    }
}

/// The transit time of a packet in a report: the time after the window's fastest packet, in units of 8 µs, in 16 bits.
package struct ReportedTransit: Hashable, Sendable, BitwiseCopyable {
    /// The highest bit is set if the packet was held up by the one before: its transit time is at most this.
    package var bits: UInt16

    /// Creates a transit time from its bits, all of which are valid.
    package init(bits: UInt16) { self.bits = bits }

    init(nanoseconds: Int64, isHeld: Bool) {
        bits = UInt16(max(0, min(Int64(Self.longest), nanoseconds / Self.unit))) | (isHeld ? Self.heldBit : 0)
    }

    /// The most in a report. A window has 75 packets of 64 frames.
    package static let maximumCount = 96
    private static let unit: Int64 = 8_000  // nanoseconds
    private static let heldBit: UInt16 = 0x8000
    private static let longest: UInt16 = 0x7FFF

    var isHeld: Bool { bits & Self.heldBit != 0 }
    /// The seconds after the fastest packet.
    var seconds: Double { Double(Int64(bits & Self.longest) * Self.unit) * 1e-9 }
}

/// The times of the packets that a peer received from us in a window of about 100 ms.
///
/// ``ClockSync`` uses the fastest packet for the bounds, the typical transit time (``TransitWindow``) for the mean, and all transit
/// times for the ranks. A window is short against the drift of two clocks (10 µs in 100 ms at 100 ppm) and against the
/// seconds in which an estimate converges, and long enough that a report for each costs one packet where media has 37.
package struct ClockReport: Hashable, Sendable {
    /// The packet with the shortest transit time.
    package var fastest: PacketTime
    /// The same send time, and the arrival after the typical transit time.
    package var typical: PacketTime
    /// The transit times of the packets, in any order; empty if the peer does not report them.
    package var transits: [ReportedTransit]

    /// Creates a report.
    package init(fastest: PacketTime, typical: PacketTime, transits: [ReportedTransit] = []) {
        self.fastest = fastest
        self.typical = typical
        self.transits = transits
    }
}

extension HostTime {
    /// The low 32 bits of the whole microseconds. They wrap after 71 min 35 s.
    package var wireMicroseconds: UInt32 { UInt32(truncatingIfNeeded: nanoseconds / 1_000) }
}
