// SPDX-License-Identifier: Apache-2.0

/// Chooses a sender's rung of the ladder. It steps down at once if the remote peer finds the link too slow, and up rung by rung
/// if the remote peer has found nothing for a while. After a failed step up the next one comes later.
///
/// A value without clock or thread: times are seconds of any one clock. Only a step up can show that there is room, since a
/// sender below the link's capacity cannot measure it.
package struct RatePolicy: Sendable {
    /// The bits a second that each rung takes on the link, descending.
    package private(set) var rungs: [Double]
    /// The index of the rung to send on: the last rung while a queue drains after a mere suspicion, otherwise ``settled``.
    package var rung: Int { drainEnd == nil ? chosen : rungs.count - 1 }
    /// The index of the chosen rung, whether or not a queue drains.
    package var settled: Int { chosen }
    /// The link's rate in bits a second when it last was too slow, measured or estimated; nil if it never was too slow.
    package private(set) var limit: Double?
    /// True if the remote peer measured ``limit``; false if its reports only showed congestion.
    package private(set) var isMeasured = false
    /// True if even the last rung exceeded the link's rate at a finding of the last ten seconds.
    package private(set) var isTooSlow = false
    /// The steps to a lower bit rate so far.
    package private(set) var stepsDown = 0
    /// The steps to a higher bit rate so far.
    package private(set) var stepsUp = 0
    /// The time until which nothing is sent, so that the link's queue drains.
    package private(set) var pausedUntil = -Double.infinity

    private var chosen = 0
    private var drainEnd: Double?  // the time until which the last rung is sent; nil for none
    private var drainedUntil = -Double.infinity  // the end of the last pause or drain
    private var steppedAt = -Double.infinity
    private var lastStepWasDown = false
    private var troubleTime = -Double.infinity  // the last finding
    private var stepUpWait = RatePolicy.shortestWait  // seconds without a finding
    private var suspicion: Suspicion?
    private var roundTrips = RoundTrips()

    /// The seconds without a finding before the first step up, the maximum of these after failed steps, and the seconds before
    /// each further step up.
    static let (shortestWait, longestWait, climb) = (5.0, 60.0, 2.0)
    /// The seconds after a step up in which a finding means that the step failed.
    static let probation = 6.0
    /// The seconds after a step down, in addition to a round trip, in which findings still concern what was sent before.
    static let settling = 1.0
    /// The assumed seconds from the beginning of congestion to its finding.
    static let findingTime = 0.15
    /// The seconds for which a finding in one direction makes the other suspect.
    static let suspicionTime = 2.0
    /// The seconds without a finding after which a link counts as recovered.
    static let tooSlowTime = 10.0
    /// The maximum seconds of a pause; the maximum on a slow link, where even a small queue takes longer; and the minimum.
    static let (longestPause, narrowPause, shortestPause) = (0.25, 0.8, 0.1)
    /// The bits of a queue that a pause may drain even if that takes longer than usual: two packets of 1,500 bytes.
    static let leastQueue = 24_000.0

    /// - Parameter rungs: the bits a second that each rung takes on the link, descending; one or more.
    package init(rungs: [Double]) {
        precondition(!rungs.isEmpty)
        self.rungs = rungs
    }

    /// Continues with the link's state under a new stream: a sender that was below the first rung begins on a rung that fits the
    /// link.
    mutating func follow(_ past: RatePolicy) {
        let rungs = rungs
        self = past
        self.rungs = rungs
        if rungs != past.rungs, chosen > 0 { chosen = min(fitting(limit ?? .infinity), rungs.count - 1) }
        (drainEnd, suspicion) = (nil, nil)
    }

    /// Handles the remote peer's finding that the link is too slow.
    /// - Parameters:
    ///   - limit: the bits a second that the link carries.
    ///   - sent: the bits a second being sent, with redundancy.
    ///   - roundTrip: the seconds of a round trip; nil if unknown.
    package mutating func apply(limit: Double, sent: Double, roundTrip: Double? = nil, at now: Double) {
        let limit = max(1, limit)
        if isRepeated(limit, at: now) { return }
        let isSettling = lastStepWasDown && suspicion == nil && now - steppedAt < Self.settling + (roundTrip ?? 0)
        self.limit = limit
        isMeasured = true
        troubleTime = now
        if !lastStepWasDown, now - steppedAt < Self.probation { stepUpWait = min(Self.longestWait, 2 * stepUpWait) }
        let before = suspicion
        suspicion = nil
        var target = fitting(limit)
        if target <= chosen {
            // The limit allows the current rung, yet packets are late: because of packets sent before, because of redundancy, or
            // because the rung does not fit after all.
            if let before { return drain(sent: before.sent, since: before.at, limit: limit, at: now) }
            if isSettling || sent > 1.2 * rungs[chosen] { return }
            target = chosen + 1
        }
        isTooSlow = isTooSlow || target >= rungs.count || rungs[target] > limit
        drainEnd = nil
        drain(sent: before?.sent ?? sent, since: before?.at, limit: limit, at: now)
        step(to: min(target, rungs.count - 1), at: now)
    }

    /// Notes that packets from the remote peer arrive slowly. Links are often slow in both directions, and then reports are lost:
    /// if the received rate has suddenly collapsed, no more is sent than was received, until two seconds after the last such
    /// finding or until the remote peer reports otherwise.
    /// - Parameters:
    ///   - limit: the bits a second that arrive from the remote peer.
    ///   - isSevere: true if the rate has collapsed; other findings only prolong a suspicion.
    package mutating func suspect(limit: Double, isSevere: Bool, sent: Double, at now: Double) {
        if suspicion != nil { return suspicion!.until = now + Self.suspicionTime }
        let limit = max(1, limit)
        let target = min(fitting(limit), rungs.count - 1)
        guard isSevere, target > chosen, now - troubleTime > 1 else { return }
        suspicion = Suspicion(rung: chosen, sent: sent, at: now, until: now + Self.suspicionTime)
        step(to: target, at: now)
        drain(sent: sent, limit: limit, isCertain: false, at: now)
    }

    /// Reads a plain report, as any program sends it: a round trip that is 150 ms longer in two reports in a row, or a quarter of
    /// the packets lost, means that the link is too slow.
    package mutating func apply(loss: Double, roundTrip: Double?, at now: Double) {
        let isLate = roundTrips.isLate(roundTrip, at: now)
        guard isLate || loss > 0.25 else { return }
        apply(limit: 0.75 * rungs[chosen], sent: rungs[chosen], roundTrip: roundTrip, at: now)
        isMeasured = false
    }

    /// Makes a step up that is due; ends a drain or a suspicion whose time is over.
    package mutating func tick(at now: Double) {
        if let end = drainEnd, now >= end { drainEnd = nil }
        if let before = suspicion, now > before.until {
            suspicion = nil
            step(to: before.rung, at: now)
            return
        }
        if isTooSlow, now - troubleTime > Self.tooSlowTime { isTooSlow = false }
        if !lastStepWasDown, now - steppedAt > Self.probation { stepUpWait = Self.shortestWait }
        guard chosen > 0, suspicion == nil else { return }
        let isClimbing = !lastStepWasDown && troubleTime < steppedAt
        if now - max(steppedAt, troubleTime) >= (isClimbing ? Self.climb : stepUpWait) { step(to: chosen - 1, at: now) }
    }

    /// Returns true if nothing may be sent.
    package func isPaused(at now: Double) -> Bool { now < pausedUntil }

    /// Returns the bits a second for sound and redundancy together; nil if the first rung is sent and the link was not too slow
    /// in the last minute.
    package func room(at now: Double) -> Double? {
        guard let limit, chosen > 0 || now - troubleTime < 60 else { return nil }
        return limit
    }

    /// Returns true for a repetition of a request that was followed.
    private func isRepeated(_ limit: Double, at now: Double) -> Bool {
        limit == self.limit && isMeasured && suspicion == nil && now - troubleTime < Self.settling
            && chosen >= min(fitting(limit), rungs.count - 1)
    }

    private func fitting(_ limit: Double) -> Int { rungs.firstIndex { $0 <= limit } ?? rungs.count }

    private mutating func step(to target: Int, at now: Double) {
        guard target != chosen else { return }
        lastStepWasDown = target > chosen
        if lastStepWasDown { stepsDown += 1 } else { stepsUp += 1 }
        chosen = target
        steppedAt = now
    }

    /// Lets the link's queue drain by a pause: packets sent faster than the link's rate wait in the queue, and packets sent now
    /// would only queue behind them.
    ///
    /// On a mere suspicion the sound continues on the last rung, if that takes at most half of the link's rate.
    private mutating func drain(
        sent: Double, since: Double? = nil, limit: Double, isCertain: Bool = true, at now: Double
    ) {
        let elapsed = since.map { now - $0 } ?? 0
        let queueTime = Self.findingTime * (sent / limit - 1) - elapsed * max(0, 1 - rungs[chosen] / limit)
        let narrowLinkPause = min(Self.narrowPause, RateControl.share * Self.leastQueue / limit)
        let pause = min(max(Self.longestPause, narrowLinkPause), queueTime)
        guard pause >= Self.shortestPause, now >= drainedUntil + 1 else { return }
        let share = 1 - rungs[rungs.count - 1] / limit
        if isCertain || share < 0.5 {
            pausedUntil = now + pause
            drainedUntil = pausedUntil
        } else {
            drainedUntil = now + pause / share
            drainEnd = drainedUntil
        }
    }
}

/// The state in which a suspicion began, and the time of its end.
private struct Suspicion: Sendable {
    let rung: Int
    let sent: Double
    let at: Double
    var until: Double
}

/// Finds round trips that are much longer than the minimum of the last one or two minutes.
private struct RoundTrips: Sendable {
    private var (least, previousLeast, since) = (Double.infinity, Double.infinity, -Double.infinity)
    private var lateCount = 0

    mutating func isLate(_ roundTrip: Double?, at now: Double) -> Bool {
        guard let roundTrip else { return false }
        if now - since > 60 { (previousLeast, least, since) = (least, .infinity, now) }
        least = min(least, roundTrip)
        lateCount = roundTrip > min(least, previousLeast) + 0.150 ? lateCount + 1 : 0
        return lateCount >= 2
    }
}
