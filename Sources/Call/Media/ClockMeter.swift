// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotClockSync
import EarshotMediaTransport

/// Estimates one remote peer's clock, and limits the reports that are evaluated.
struct ClockMeter {
    private var sync = ClockSync()
    private var now = HostTime(nanoseconds: 0)  // of the last tick
    /// The reports that may be evaluated now.
    private var credit = ClockMeter.burst
    private var creditTime: HostTime?
    private var begin: HostTime?  // of sending at the full rate
    /// True if send times may take room on the link.
    private(set) var isSettled = false

    /// The evaluated reports a second, twice as many as a peer sends, and as many at once as a stall of the network delays.
    private static let (reportRate, burst) = (20.0, 20.0)

    /// The seconds at the full rate before send times: at first those in which a link that is much too slow shows a queue, after a
    /// reduced rate those in which it may still prove too slow.
    private var settling = 0.25

    /// Waits at the full rate until no queue is seen: send times would take room on a link that is too slow already, and delay the
    /// requests for a lower rate on it.
    /// - Parameters:
    ///   - isSlow: true if the rate is reduced for a slow link.
    ///   - isQueueing: true if received packets wait before the link.
    mutating func settle(at time: HostTime, isSlow: Bool, isQueueing: Bool) {
        if isSlow { return (begin, isSettled, settling) = (nil, false, RatePolicy.probation) }
        if isSettled { return }
        let first = begin ?? time
        begin = first
        isSettled = !isQueueing && time.seconds(since: first) >= settling
    }

    /// The time of the next report; nil if no packet waits for one.
    var nextReport: HostTime? { sync.nextReport }

    mutating func addPacket(sent: UInt32, arrived: HostTime) { sync.addPacket(sent: sent, arrived: arrived) }

    /// Adds the remote peer's report. Reports beyond the limit are ignored: each costs a fit of a minute's windows.
    mutating func addReport(_ report: TimeReport, at time: HostTime) {
        let elapsed = creditTime.map { time.seconds(since: $0) } ?? 0
        creditTime = time
        credit = min(Self.burst, credit + max(0, elapsed) * Self.reportRate)
        guard credit >= 1 else { return }
        credit -= 1
        sync.addReport(
            ClockReport(fastest: PacketTime(report.fastest), prompt: PacketTime(report.prompt)), at: time)
    }

    mutating func addRoundTrip(_ seconds: Double) { sync.addRoundTrip(seconds) }

    mutating func restart(keepingOffset: Bool) { sync.restart(keepingOffset: keepingOffset) }

    /// Returns the report that is due; nil if there is none.
    mutating func takeReport(at time: HostTime) -> TimeReport? {
        now = time
        guard let report = sync.takeReport(at: time) else { return nil }
        return TimeReport(fastest: .init(report.fastest), prompt: .init(report.prompt))
    }

    /// The estimate at the time of the last tick; nil if there is none.
    var reading: PeerClockReading? { sync.peerClock.map { PeerClockReading(clock: $0, time: now) } }
}

/// The estimate of a remote peer's clock at a time.
package struct PeerClockReading: Sendable {
    /// The estimate.
    package let clock: PeerClock
    /// The local host time of the reading.
    package let time: HostTime

    /// The seconds within which the offset's error lies, whatever the path.
    package var uncertainty: Double { clock.uncertainty(at: time) }
    /// The parts per million by which the remote peer's clock is faster than the local one.
    package var partsPerMillion: Double { clock.rate * 1e6 }
}

extension PacketTime {
    fileprivate init(_ pair: TimeReport.Pair) {
        self.init(sent: pair.sent, arrived: HostTime(nanoseconds: pair.arrived))
    }
}

extension TimeReport.Pair {
    fileprivate init(_ time: PacketTime) { self.init(sent: time.sent, arrived: time.arrived.nanoseconds) }
}
