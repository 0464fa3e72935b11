// SPDX-License-Identifier: Apache-2.0

/// Decides which rung of a ladder a sender is on: down at once if the remote peer finds that the link is too slow, up one by one if
/// it has found nothing for a while; if that was too much, the next try comes later.
///
/// A value without clock or thread: instants come in as seconds of any one clock. Going up is the only way to know whether there
/// is room, since a sender that uses less than the link carries cannot see how much more that is.
package struct RatePolicy: Sendable {
    /// Bits a second on the link of each rung, falling.
    package private(set) var rungs: [Double]
    /// The rung being sent: the last one for a fraction of a second while the link's queue drains.
    package var rung: Int { draining == nil ? chosen : rungs.count - 1 }
    /// The rung being sent when no queue drains.
    package var settled: Int { chosen }
    /// The link's rate, in bits a second, as the remote peer found last; nil if it never was too slow.
    package private(set) var limit: Double?
    /// True if the remote peer measured that: one that makes no such findings shows by its reports only that it was too much.
    package private(set) var isMeasured = false
    /// True if even the last rung is too much for the link.
    package private(set) var isTooSlow = false
    /// Steps so far.
    package private(set) var stepsDown = 0
    /// Steps so far.
    package private(set) var stepsUp = 0
    /// Until when nothing is sent, so that what waits before the link can leave it.
    package private(set) var pausedUntil = -Double.infinity

    private var chosen = 0
    private var draining: Double?  // until when
    private var drainedUntil = -Double.infinity
    private var steppedAt = -Double.infinity
    private var wentDown = false  // whether the last step was down
    private var troubleAt = -Double.infinity
    private var wait = RatePolicy.shortestWait
    private var suspicion: Suspicion?
    private var roundTrips = RoundTrips()

    /// Seconds without a finding before the first step up, the longest that they may become, and those to the step after it.
    static let (shortestWait, longestWait, climb) = (5.0, 60.0, 2.0)
    /// Seconds after a step up in which a finding says that it was one too many.
    static let probation = 6.0
    /// Seconds, and a round trip, in which findings are still of what was sent before a step.
    static let settling = 1.0
    /// Seconds that pass until a finding is made.
    static let findingTime = 0.15
    /// Seconds for which the remote peer's own trouble is taken for a sign of one's own.
    static let suspicionTime = 2.0
    /// Seconds without a finding after which a link that was too slow is taken to have recovered.
    static let tooSlowTime = 10.0
    /// Seconds of a pause at most, the same if the link is so narrow that a small queue takes longer, and at least if there is one.
    static let (longestPause, narrowPause, shortestPause) = (0.25, 0.8, 0.1)
    /// Maximum bits queued before a link with a short queue: two packets of 1,500 bytes.
    static let leastQueue = 24_000.0

    /// - Parameter rungs: one or more.
    package init(rungs: [Double]) {
        precondition(!rungs.isEmpty)
        self.rungs = rungs
    }

    /// The same link under another stream: what is known of it stays, and who was not on the first rung begins on the one that
    /// fits.
    mutating func follow(_ past: RatePolicy) {
        let rungs = rungs
        self = past
        self.rungs = rungs
        if rungs != past.rungs, chosen > 0 { chosen = min(fitting(limit ?? .infinity), rungs.count - 1) }
        (draining, suspicion) = (nil, nil)
    }

    /// The remote peer finds that the link is too slow.
    /// - Parameters:
    ///   - limit: bits a second that it carries.
    ///   - sent: bits a second that are sent at present, with what is repeated.
    ///   - roundTrip: seconds to the remote peer and back; nil if that is not known.
    package mutating func apply(limit: Double, sent: Double, roundTrip: Double? = nil, at now: Double) {
        let limit = max(1, limit)
        let isSettling = wentDown && suspicion == nil && now - steppedAt < Self.settling + (roundTrip ?? 0)
        self.limit = limit
        isMeasured = true
        troubleAt = now
        if !wentDown, now - steppedAt < Self.probation { wait = min(Self.longestWait, 2 * wait) }
        let before = suspicion
        suspicion = nil
        var target = fitting(limit)
        if target <= chosen {
            // The reported limit allows the rung, yet packets are late: because of earlier packets, of redundancy, or because it
            // does not fit.
            if let before { return drain(sent: before.sent, since: before.at, limit: limit, at: now) }
            if isSettling || sent > 1.2 * rungs[chosen] { return }
            target = chosen + 1
        }
        isTooSlow = isTooSlow || target >= rungs.count || rungs[target] > limit
        draining = nil
        drain(sent: before?.sent ?? sent, since: before?.at, limit: limit, at: now)
        step(to: min(target, rungs.count - 1), at: now)
    }

    /// Notes that packets from the remote peer arrive slowly. Links are often slow in both directions, and then no report gets
    /// through: if the received rate has suddenly collapsed, no more is sent than was received, until two seconds after the last
    /// such finding or until the remote peer reports otherwise.
    /// - Parameters:
    ///   - limit: bits a second that came through.
    ///   - isSevere: whether it has collapsed; other findings only make a suspicion last.
    package mutating func suspect(limit: Double, isSevere: Bool, sent: Double, at now: Double) {
        if suspicion != nil { return suspicion!.until = now + Self.suspicionTime }
        let limit = max(1, limit)
        let target = min(fitting(limit), rungs.count - 1)
        guard isSevere, target > chosen, now - troubleAt > 1 else { return }
        suspicion = Suspicion(rung: chosen, sent: sent, at: now, until: now + Self.suspicionTime)
        step(to: target, at: now)
        drain(sent: sent, limit: limit, isCertain: false, at: now)
    }

    /// Takes what a remote peer reports that makes no such findings, as any program does: a round trip that has become longer by
    /// 150 ms, in two reports on end, or a quarter of the packets lost, is a link that is too slow.
    package mutating func apply(loss: Double, roundTrip: Double?, at now: Double) {
        let isLate = roundTrips.isLate(roundTrip, at: now)
        guard isLate || loss > 0.25 else { return }
        apply(limit: 0.75 * rungs[chosen], sent: rungs[chosen], roundTrip: roundTrip, at: now)
        isMeasured = false
    }

    /// Steps up when due.
    package mutating func tick(at now: Double) {
        if let end = draining, now >= end { draining = nil }
        if let before = suspicion, now > before.until {
            suspicion = nil
            step(to: before.rung, at: now)
            return
        }
        if isTooSlow, now - troubleAt > Self.tooSlowTime { isTooSlow = false }
        if !wentDown, now - steppedAt > Self.probation { wait = Self.shortestWait }
        guard chosen > 0, suspicion == nil else { return }
        let isClimbing = !wentDown && troubleAt < steppedAt
        if now - max(steppedAt, troubleAt) >= (isClimbing ? Self.climb : wait) { step(to: chosen - 1, at: now) }
    }

    /// Returns true if nothing is to be sent.
    package func isPaused(at now: Double) -> Bool { now < pausedUntil }

    /// Bits a second that sound and what is repeated may take together; nil if the link has not been too slow for a minute.
    package func room(at now: Double) -> Double? {
        guard let limit, chosen > 0 || now - troubleAt < 60 else { return nil }
        return limit
    }

    private func fitting(_ limit: Double) -> Int { rungs.firstIndex { $0 <= limit } ?? rungs.count }

    private mutating func step(to target: Int, at now: Double) {
        guard target != chosen else { return }
        wentDown = target > chosen
        if wentDown { stepsDown += 1 } else { stepsUp += 1 }
        chosen = target
        steppedAt = now
    }

    /// While the link was found to be too slow, so much has been sent that waits before it now; what is sent behind that comes no
    /// sooner for being sent at once.
    ///
    /// On a mere suspicion the sound continues on the last rung, as far as that lets the queue shorten.
    private mutating func drain(
        sent: Double, since: Double? = nil, limit: Double, isCertain: Bool = true, at now: Double
    ) {
        let elapsed = since.map { now - $0 } ?? 0
        let waiting = Self.findingTime * (sent / limit - 1) - elapsed * max(0, 1 - rungs[chosen] / limit)
        let least = min(Self.narrowPause, RateControl.share * Self.leastQueue / limit)
        let pause = min(max(Self.longestPause, least), waiting)
        guard pause >= Self.shortestPause, now >= drainedUntil + 1 else { return }
        let share = 1 - rungs[rungs.count - 1] / limit
        if isCertain || share < 0.5 {
            pausedUntil = now + pause
            drainedUntil = pausedUntil
        } else {
            drainedUntil = now + pause / share
            draining = drainedUntil
        }
    }
}

/// The state before a suspicion.
private struct Suspicion: Sendable {
    let rung: Int
    let sent: Double
    let at: Double
    var until: Double
}

/// The least round trip of the last minute or two, and whether those since are much longer.
private struct RoundTrips: Sendable {
    private var (least, before, since) = (Double.infinity, Double.infinity, -Double.infinity)
    private var lateCount = 0

    mutating func isLate(_ roundTrip: Double?, at now: Double) -> Bool {
        guard let roundTrip else { return false }
        if now - since > 60 { (before, least, since) = (least, .infinity, now) }
        least = min(least, roundTrip)
        lateCount = roundTrip > min(least, before) + 0.150 ? lateCount + 1 : 0
        return lateCount >= 2
    }
}
