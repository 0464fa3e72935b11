// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Unwraps a peer's 32-bit send times to nanoseconds that continue over their wraps.
///
/// The peer's first report has a full time, which tells the timeline's place on the peer's full clock.
struct PeerTimeline: Sendable {
    private var micros: Int64?  // the last send time
    private var arrived = HostTime(nanoseconds: 0)  // of the packet with it, on our clock
    private var epoch: Int64?  // microseconds from this timeline's zero to the peer's full clock

    /// Returns a packet's send time in nanoseconds of this timeline, and expects later ones to follow it.
    mutating func unwrap(_ sent: UInt32, arrived: HostTime) -> Int64 {
        let found = nearest(Int64(sent), at: arrived)
        micros = found
        self.arrived = arrived
        return found &* 1_000
    }

    /// Returns a peer's full time in nanoseconds of this timeline.
    /// - Parameter now: our time, within minutes of it.
    /// - Returns: also true if this time contradicts an earlier one by a multiple of 2³² µs: the peer's clock has stepped.
    mutating func place(_ time: HostTime, at now: HostTime) -> (nanoseconds: Int64, isContradiction: Bool) {
        let full = time.nanoseconds / 1_000
        let found = full &- nearest(full, at: now)
        let isContradiction = epoch.map { $0 != found } ?? false
        epoch = found
        if micros == nil {
            micros = full &- found
            arrived = now
        }
        return (time.nanoseconds &- found &* 1_000, isContradiction)
    }

    /// Returns the peer's full time at nanoseconds of this timeline; nil before the first report.
    func hostTime(_ nanoseconds: Int64) -> HostTime? {
        epoch.map { HostTime(nanoseconds: nanoseconds &+ $0 &* 1_000) }
    }

    /// Returns the microseconds with the low 32 bits of `value` that are nearest to the expected ones at `now`.
    private func nearest(_ value: Int64, at now: HostTime) -> Int64 {
        guard let micros else { return value }
        let expected = micros &+ (now.nanoseconds &- arrived.nanoseconds) / 1_000
        return expected &+ Int64(Int32(truncatingIfNeeded: value &- expected))
    }
}
