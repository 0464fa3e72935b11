// SPDX-License-Identifier: Apache-2.0

/// Estimates the offset and rate of a peer's clock from windows of both directions, and notices when they change.
///
/// It keeps the windows of the last minute. While a change is suspected, the uncertainty includes it and the windows do not enter
/// the fit. A change that both directions show is a stepped clock or another path: the estimate begins again, with the rate as
/// its prior. A change that one direction alone shows is its path, since a clock's step shows in both: the offset stays, and the
/// direction's later windows are corrected by the change.
struct OffsetEstimator: Sendable {
    /// An estimate at a time, without the growth of its errors since.
    struct Estimate: BitwiseCopyable, Sendable {
        var time: Double
        var offset: Double
        var rate: Double
        var rateError: Double
        var error: Double
        var greatestError: Double
    }
    private struct Change: BitwiseCopyable, Sendable {
        var start: Double  // the first time at which all packets show it
        var error: Double  // the seconds by which the offset may be wrong meanwhile
    }
    /// The change of a direction's offsets, in seconds.
    private struct Jump {
        var seconds: Double
        var deviation: Double
    }

    private(set) var fit: OffsetFit?
    private var windows = BothDirections<[OffsetWindow]>(repeating: [])
    private var seconds = RankSeconds()
    private var detectors = BothDirections(repeating: ChangeDetector())
    private var prior = RatePrior()
    private var start = -Double.infinity  // windows before are not used
    private var windowsSinceFit = 0
    private var shifts = BothDirections(repeating: 0.0)  // changes of one direction's path, subtracted from its windows
    private var shiftVariance = 0.0  // of the offset, by `shifts`
    private var change: Change?  // suspected, not yet judged
    private var held: Estimate?  // before the last restart

    private static let memory = 60.0  // seconds
    private static let capacity = 640  // windows for each direction
    /// The least deviation of the rate that is assumed after a restart.
    private static let leastPriorDeviation = 5e-6
    /// The floor of all errors: times are in whole microseconds.
    private static let resolution = 1e-6
    /// The seconds before a suspected change with which the time after it is compared.
    private static let judgedMemory = 5.0
    /// The windows that decide between one direction and both, even if they are not clear.
    private static let windowsToJudge = 16

    /// The present estimate; nil if there is none.
    var estimate: Estimate? {
        guard let fit else { return held }
        var extra = Self.resolution + 2 * shiftVariance.squareRoot() + (change?.error ?? 0)
        for direction in Direction.allCases {
            extra += detectors[direction].presentDeviations * fit.mean.deviation / 2
        }
        return Estimate(
            time: fit.origin, offset: fit.offset, rate: fit.rate, rateError: fit.rateError, error: fit.error + extra,
            greatestError: fit.greatestError + extra)
    }

    /// Adds a window of one direction. Times must be finite.
    mutating func add(_ window: OffsetWindow, _ direction: Direction) {
        guard window.start >= start else { return }
        let window = window.shifted(by: -shifts[direction])
        windows[direction].append(window)
        forgetOld(before: window.end - Self.memory)
        guard let fit else { return refit() }
        let step = fit.bounds.excess(window.fastest, beyond: direction.other, at: fit.origin)
        guard step < 3 * fit.mean.deviation else {
            // The packet arrived before it was sent: the clock's step exceeds a round trip.
            return restart(from: window.end + TransitWindow.length / 2, step: step + 2 * fit.bounds.roundTrip)
        }
        let residual = fit.residual(window, direction)
        detectors[direction].add(residual, predictionDeviation: fit.predictionDeviation(at: residual.end))
        if change == nil, let time = detectors[direction].changeTime {
            change = Change(start: time + TransitWindow.length, error: 0)
        } else if change == nil, fit.usesBounds, -residual.excess > 10 * fit.bounds.error + 20 * Self.resolution {
            change = Change(start: residual.end + TransitWindow.length / 2, error: -residual.excess)
        }
        windowsSinceFit += 1
        if let change {
            judge(change, fit)
        } else if !detectors.outgoing.isSuspicious, !detectors.incoming.isSuspicious,
            windowsSinceFit * 32 >= windows.outgoing.count + windows.incoming.count
        {
            refit()
        }
    }

    /// Begins again: keeps the offset with its uncertainty until there is a new one, or forgets it.
    mutating func restart(keepingOffset: Bool) {
        windows = BothDirections(repeating: [])
        restart(from: -.infinity, step: keepingOffset ? 0 : .infinity)
    }

    /// Begins again with the windows from `start` on. The held offset may be wrong by `step` seconds.
    private mutating func restart(from start: Double, step: Double) {
        held = estimate
        held?.error += step
        held?.greatestError += step
        if let found = held, !found.error.isFinite { held = nil }
        if let fit {
            let deviation = max(2 * fit.rateDeviation, Self.leastPriorDeviation)
            prior = RatePrior(rate: fit.rate, deviation: deviation, isInitial: prior.isInitial && deviation > 50e-6)
        }
        for direction in Direction.allCases {
            windows[direction] = windows[direction].filter { $0.start >= start }
                .map { $0.shifted(by: shifts[direction]) }
        }
        self.start = start
        seconds.forget()
        shifts = BothDirections(repeating: 0)
        shiftVariance = 0
        fit = nil
        settle()
    }

    /// Ends the suspicion and fits anew.
    private mutating func settle() {
        change = nil
        detectors = BothDirections(repeating: ChangeDetector())
        refit()
    }

    private mutating func forgetOld(before time: Double) {
        for direction in Direction.allCases {
            while let first = windows[direction].first,
                first.end < time || windows[direction].count > Self.capacity
            {
                windows[direction].removeFirst()
            }
        }
    }

    private mutating func refit() {
        windowsSinceFit = 0
        guard windows.outgoing.count >= 2, windows.incoming.count >= 2 else { return }
        let found = OffsetFit(windows, &seconds, prior: prior)
        if found.bounds.roundTrip > 0 {
            fit = found
        } else if fit == nil {
            // Packets before and after a step, or a peer that lies.
            for direction in Direction.allCases { windows[direction] = Array(windows[direction].suffix(1)) }
            seconds.forget()
        }
    }

    /// Decides about a suspected change, if enough windows show it.
    private mutating func judge(_ change: Change, _ fit: OffsetFit) {
        let count = Direction.allCases.map { residuals(since: change.start, $0).count }.min() ?? 0
        guard count >= (fit.usesBounds ? 6 : 4), let outgoing = jump(since: change.start, .outgoing, fit),
            let incoming = jump(since: change.start, .incoming, fit)
        else { return }
        let changed = abs(outgoing.seconds) > abs(incoming.seconds) ? Direction.outgoing : .incoming
        let (larger, smaller) = changed == .outgoing ? (outgoing, incoming) : (incoming, outgoing)
        self.change?.error =
            (abs(larger.seconds) + abs(smaller.seconds)) / 2 + larger.deviation + smaller.deviation
        if abs(larger.seconds) < 2.5 * larger.deviation { return settle() }
        let isOne = abs(smaller.seconds) + 2 * smaller.deviation < abs(larger.seconds) / 2
        let isBoth = abs(smaller.seconds) - 2 * smaller.deviation > abs(larger.seconds) / 2
        if isOne {
            correct(changed, by: larger.seconds, since: change.start)
            shiftVariance += (larger.deviation * larger.deviation + smaller.deviation * smaller.deviation) / 4
            settle()
        } else if isBoth || count >= Self.windowsToJudge {
            restart(from: change.start, step: 0)
        }
    }

    private func residuals(since time: Double, _ direction: Direction) -> [ChangeDetector.Residual] {
        detectors[direction].residuals.filter { $0.start >= time }
    }

    /// Returns the change of a direction's offsets by the windows since `time`; nil without two.
    private func jump(since time: Double, _ direction: Direction, _ fit: OffsetFit) -> Jump? {
        let residuals = residuals(since: time, direction)
        guard residuals.count >= 2 else { return nil }
        if !fit.usesBounds, let found = rankJump(since: time, direction, fit) { return found }
        if fit.usesBounds {
            let excesses = residuals.map(\.excess).sorted()
            return Jump(
                seconds: excesses[0] * direction.sign,
                deviation: excesses[1] - excesses[0] + fit.bounds.error + 10 * Self.resolution)
        }
        return Jump(
            seconds: residuals.map(\.deviations).median * fit.mean.deviation,
            deviation: 1.25 * fit.mean.deviation / Double(residuals.count).squareRoot())
    }

    /// Returns the change by the ranks of the transit times before and after; nil if these are unknown.
    private func rankJump(since time: Double, _ direction: Direction, _ fit: OffsetFit) -> Jump? {
        let after = windows[direction].filter { $0.start >= time }
        let before = windows[direction].filter {
            $0.end < time - 2 * TransitWindow.length && $0.end > time - Self.judgedMemory
        }
        let found = RankShift(
            BothDirections(
                outgoing: after.transits(direction, rate: fit.rate, at: time),
                incoming: before.transits(direction, rate: fit.rate, at: time)))
        return found.map {
            Jump(seconds: 2 * $0.offset * direction.sign, deviation: 2 * $0.variance.squareRoot())
        }
    }

    /// Corrects a direction for the change of its path by `seconds` from `time` on. Windows about the change are dropped.
    private mutating func correct(_ direction: Direction, by seconds: Double, since time: Double) {
        shifts[direction] += seconds
        self.seconds.forget()
        windows[direction] = windows[direction].compactMap { window in
            if window.start >= time { return window.shifted(by: -seconds) }
            return window.end < time - 2 * TransitWindow.length ? window : nil
        }
    }
}
