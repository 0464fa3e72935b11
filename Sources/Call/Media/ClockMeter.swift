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
    private var fullRateStart: HostTime?  // of sending at the full rate; nil below it
    private var settlingTime = RatePolicy.findingTime  // seconds at the full rate before send times
    /// True if send times may take room on the link.
    private(set) var isSettled = false

    /// The maximum number of evaluated reports a second: twice as many as a peer sends. The maximum number at once: those of 2 s,
    /// which a stall of the network may delay.
    private static let (reportRate, burst) = (20.0, 20.0)

    /// Notes the state of the link. Send times wait for `settlingTime`, in which a much too slow link shows a queue. If there is a
    /// queue, they wait for `RatePolicy.findingTime` more, because they would delay the request for a lower rate. After a reduced
    /// rate they wait longer, but begin while a finding still counts as a failed step up. So a link that carries the sound and not
    /// the send times is tried ever later.
    /// - Parameters:
    ///   - isSlow: true if the rate is reduced for a slow link.
    ///   - isQueueing: true if received packets wait before the link.
    mutating func settle(at time: HostTime, isSlow: Bool, isQueueing: Bool) {
        if isSlow { return (fullRateStart, isSettled, settlingTime) = (nil, false, RatePolicy.climb) }
        if isSettled { return }
        let start = fullRateStart ?? time
        fullRateStart = start
        let elapsed = time.seconds(since: start)
        isSettled = elapsed >= (isQueueing ? settlingTime + RatePolicy.findingTime : settlingTime)
    }

    mutating func addPacket(sent: UInt32, arrived: HostTime) { sync.addPacket(sent: sent, arrived: arrived) }

    mutating func noteOtherPacket(arrived: HostTime) { sync.noteOtherPacket(arrived: arrived) }

    /// Adds the remote peer's report. Reports beyond the limit are ignored: each costs a fit of a minute's windows.
    mutating func addReport(_ report: TimeReport, at time: HostTime) {
        let elapsed = creditTime.map { time.seconds(since: $0) } ?? 0
        creditTime = time
        credit = min(Self.burst, credit + max(0, elapsed) * Self.reportRate)
        guard credit >= 1 else { return }
        credit -= 1
        sync.addReport(
            ClockReport(
                fastest: PacketTime(report.fastest), typical: PacketTime(report.typical),
                transits: report.transits.map(ReportedTransit.init(bits:))), at: time)
    }

    mutating func addRoundTrip(_ seconds: Double) { sync.addRoundTrip(seconds) }

    mutating func restart(keepingOffset: Bool) { sync.restart(keepingOffset: keepingOffset) }

    /// Returns the report that is due; nil if there is none.
    mutating func takeReport(at time: HostTime) -> TimeReport? {
        now = time
        guard let report = sync.takeReport(at: time) else { return nil }
        return TimeReport(
            fastest: .init(report.fastest), typical: .init(report.typical), transits: report.transits.map(\.bits))
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

    /// The seconds by which the remote peer's clock is ahead of the local one.
    package var offset: Double { clock.peerTime(at: time).seconds(since: time) }
    /// The seconds within which the offset's error lies in 95 % of cases, if the least delays of both directions are alike.
    package var likelyError: Double { clock.symmetricUncertainty(at: time) }
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
