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

/// The times of the packets that a peer received from us in a window of about 100 ms.
///
/// Two pairs of times are all that ``ClockSync`` uses of a window: the fastest packet for the bounds, and the typical transit time
/// (``TransitWindow``) for the mean. A window is short against the drift of two clocks (10 µs in 100 ms at 100 ppm) and against the
/// seconds in which an estimate converges, and long enough that a report for each costs one packet where media has 37.
package struct ClockReport: Hashable, Sendable, BitwiseCopyable {
    /// The packet with the shortest transit time.
    package var fastest: PacketTime
    /// The same send time, and the arrival after the typical transit time.
    package var typical: PacketTime

    /// Creates a report.
    package init(fastest: PacketTime, typical: PacketTime) {
        self.fastest = fastest
        self.typical = typical
    }
}

extension HostTime {
    /// The low 32 bits of the whole microseconds. They wrap after 71 min 35 s.
    package var wireMicroseconds: UInt32 { UInt32(truncatingIfNeeded: nanoseconds / 1_000) }
}
