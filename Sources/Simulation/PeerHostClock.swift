// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The host clock of a simulated peer: an offset from virtual time, and a rate of its own.
package struct PeerHostClock: Sendable {
    /// The seconds by which the clock is ahead at virtual time 0.
    package var offset = 0.0
    /// The parts per million by which the clock is fast; −10,000 to 10,000.
    package var ppm = 0.0

    /// Creates a clock that shows virtual time.
    package init(offset: Double = 0, ppm: Double = 0) {
        self.offset = offset
        self.ppm = ppm
    }

    private var isVirtual: Bool { offset == 0 && ppm == 0 }

    /// Returns the host time at a virtual time.
    package func hostTime(at virtual: HostTime) -> HostTime {
        guard !isVirtual, virtual != SimulatedPeer.never else { return virtual }
        return virtual.advanced(bySeconds: offset + Double(virtual.nanoseconds) * 1e-9 * ppm * 1e-6)
    }

    /// Returns the virtual time of a host time.
    package func virtualTime(of host: HostTime) -> HostTime {
        guard !isVirtual, host != SimulatedPeer.never else { return host }
        let seconds = Double(host.nanoseconds) * 1e-9 - offset
        return host.advanced(bySeconds: -offset - seconds * ppm * 1e-6 / (1 + ppm * 1e-6))
    }
}
