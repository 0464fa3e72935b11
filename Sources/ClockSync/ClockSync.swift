// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Estimates a peer's clock relative to ours from the times of all media packets in both directions.
///
/// A sans-IO value: it gets the times of received packets and the peer's reports about ours, and returns reports for the peer and
/// the estimate. Times are grouped into windows of 100 ms (``ClockReport``). Three estimators work on them: `PacketBounds` where
/// delay has a floor, elsewhere `RankLine`, or `RobustMean` if the peer reports no transit times. Memory is bounded, whatever the
/// peer sends, and nothing traps.
///
/// The asymmetry of a path cannot be seen in packet times. So ``PeerClock`` has two uncertainties: one holds if the least delays of
/// both directions are alike; the other, half the least round trip, holds always. A peer that lies about its times moves only our
/// estimate of its own clock. The second uncertainty is at least half the round trip of ``addRoundTrip(_:)``.
package struct ClockSync: Sendable {
    private var timeline = PeerTimeline()
    private var window = TransitWindow()
    private var estimator = OffsetEstimator()
    private var origin: HostTime?  // the estimator's zero
    private var base: Int64 = 0  // nanoseconds, subtracted from offsets, so that a Double holds the rest
    private var leastRoundTrip = 0.0  // seconds; 0 if unknown

    /// The greatest age of a packet in a report.
    private static let greatestAge: UInt32 = 10_000_000  // microseconds

    /// Creates an estimator that knows nothing.
    package init() {}

    /// Adds a packet from the peer.
    /// - Parameters:
    ///   - sent: its send time (``EarshotAudioBase/HostTime/wireMicroseconds`` of the peer).
    ///   - arrived: its arrival on our clock.
    package mutating func addPacket(sent: UInt32, arrived: HostTime) {
        window.add(
            TransitWindow.Packet(
                sent: timeline.unwrap(sent, arrived: arrived), arrived: arrived.nanoseconds))
    }

    /// Notes the arrival of a packet from the peer without a send time, which may hold up others.
    package mutating func noteOtherPacket(arrived: HostTime) { window.noteOther(arrived: arrived.nanoseconds) }

    /// Returns the report for the peer about its packets of the last window; nil until the window is complete. Call this after each packet.
    package mutating func takeReport(at now: HostTime) -> ClockReport? {
        guard let end = window.end, end <= now, let (fastest, typical, transits) = window.close() else { return nil }
        add(
            (fastest.arrived, fastest.sent &- fastest.arrived), (typical.arrived, typical.sent &- typical.arrived),
            transits, .incoming)
        return ClockReport(fastest: PacketTime(fastest), typical: PacketTime(typical), transits: transits)
    }

    /// Adds the peer's report about our packets. A report with impossible times is ignored.
    package mutating func addReport(_ report: ClockReport, at now: HostTime) {
        let later = report.typical.arrived.nanoseconds &- report.fastest.arrived.nanoseconds
        let laterSent = Int64(Int32(truncatingIfNeeded: report.typical.sent &- report.fastest.sent)) * 1_000
        let spread = later &- laterSent
        guard let fastest = sendTime(report.fastest.sent, at: now),
            let typical = sendTime(report.typical.sent, at: now),
            abs(Double(laterSent)) < 1e9, spread >= 0, spread < TransitWindow.longestDelay
        else { return }
        let (arrived, isContradiction) = timeline.place(report.fastest.arrived, at: now)
        if isContradiction { restart(keepingOffset: false) }
        add(
            (fastest, arrived &- fastest), (typical, arrived &+ later &- typical),
            Array(report.transits.prefix(ReportedTransit.maximumCount)), .outgoing)
    }

    /// Adds a round trip on the path that we measured without the peer's clock, such as of a STUN check. Values that are not
    /// positive are ignored.
    package mutating func addRoundTrip(_ seconds: Double) {
        guard seconds > 0, seconds.isFinite else { return }
        leastRoundTrip = leastRoundTrip > 0 ? min(leastRoundTrip, seconds) : seconds
    }

    /// Begins again.
    /// - Parameter keepingOffset: true if only the path has changed (another address): the estimate ages until there is a new one.
    ///   False if a clock may have stopped (sleep): there is no estimate until then.
    package mutating func restart(keepingOffset: Bool) {
        estimator.restart(keepingOffset: keepingOffset)
        _ = window.close()
        leastRoundTrip = 0
    }

    /// The estimate; nil before there is one, about 0.3 s after the first packets.
    package var peerClock: PeerClock? {
        guard let found = estimator.estimate, let origin else { return nil }
        let local = origin.advanced(bySeconds: found.time)
        let offset = base &+ HostTime(nanoseconds: 0).advanced(bySeconds: found.offset).nanoseconds
        guard let peer = timeline.hostTime(local.nanoseconds &+ offset) else { return nil }
        return PeerClock(
            localReference: local, peerReference: peer, rate: found.rate, rateError: found.rateError,
            error: found.error,
            roundTripError: max(found.greatestError, leastRoundTrip / 2))
    }

    /// The estimates of the present windows, for comparison; nil if there are too few.
    var fit: OffsetFit? { estimator.fit }

    /// Returns our time in nanoseconds at which we sent a packet with this time; nil if it is too old.
    private func sendTime(_ sent: UInt32, at now: HostTime) -> Int64? {
        let age = now.wireMicroseconds &- sent
        return age <= Self.greatestAge ? (now.nanoseconds / 1_000 &- Int64(age)) &* 1_000 : nil
    }

    /// Adds a window. Each sample has a time on our clock and the peer's offset then, in nanoseconds.
    private mutating func add(
        _ fastest: (time: Int64, offset: Int64), _ typical: (time: Int64, offset: Int64),
        _ transits: [ReportedTransit], _ direction: Direction
    ) {
        if origin == nil {
            origin = HostTime(nanoseconds: fastest.time)
            base = fastest.offset
        }
        let zero = origin?.nanoseconds ?? 0
        let base = base
        func sample(_ pair: (time: Int64, offset: Int64)) -> OffsetSample {
            OffsetSample(time: Double(pair.time &- zero) * 1e-9, offset: Double(pair.offset &- base) * 1e-9)
        }
        estimator.add(
            OffsetWindow(fastest: sample(fastest), typical: sample(typical), transits: transits), direction)
    }
}

extension PacketTime {
    fileprivate init(_ packet: TransitWindow.Packet) {
        self.init(
            sent: UInt32(truncatingIfNeeded: packet.sent / 1_000), arrived: HostTime(nanoseconds: packet.arrived))
    }
}
