// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The host clock of a simulated peer: an offset from virtual time, a rate of its own, and a sleep during which it stands still.
package struct PeerHostClock: Sendable {
    /// The seconds by which the clock is ahead at virtual time 0.
    package var offset = 0.0
    /// The parts per million by which the clock is fast; −10,000 to 10,000.
    package var ppm = 0.0
    /// The virtual times between which the machine sleeps; nil for none. Its card and its media do nothing meanwhile.
    package var sleep: Range<HostTime>?

    /// Creates a clock that shows virtual time.
    package init(offset: Double = 0, ppm: Double = 0) {
        self.offset = offset
        self.ppm = ppm
    }

    private var isVirtual: Bool { offset == 0 && ppm == 0 && sleep == nil }
    private var sleptNanoseconds: Int64 {
        sleep.map { $0.upperBound.nanoseconds - $0.lowerBound.nanoseconds } ?? 0
    }

    /// Returns the host time at a virtual time.
    package func hostTime(at virtual: HostTime) -> HostTime {
        guard !isVirtual, virtual != SimulatedPeer.never else { return virtual }
        var awake = virtual
        if let sleep, virtual > sleep.lowerBound {
            awake.nanoseconds = max(sleep.lowerBound.nanoseconds, virtual.nanoseconds - sleptNanoseconds)
        }
        return awake.advanced(bySeconds: offset + Double(awake.nanoseconds) * 1e-9 * ppm * 1e-6)
    }

    /// Returns the virtual time of a host time.
    package func virtualTime(of host: HostTime) -> HostTime {
        guard !isVirtual, host != SimulatedPeer.never else { return host }
        let seconds = Double(host.nanoseconds) * 1e-9 - offset
        var virtual = host.advanced(bySeconds: -offset - seconds * ppm * 1e-6 / (1 + ppm * 1e-6))
        if let sleep, virtual > sleep.lowerBound { virtual.nanoseconds += sleptNanoseconds }
        return virtual
    }
}
