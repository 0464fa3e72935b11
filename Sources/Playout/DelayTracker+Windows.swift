// SPDX-License-Identifier: Apache-2.0

extension DelayTracker {
    /// Windows without a long delay, at least, before a spell of them is over: half of the memory.
    private static var shortestCalm: Int { @_noLocks get { 8 } }
    /// Long delays in a spell at least; fewer say nothing by staying away.
    private static var leastLongCount: Int { @_noLocks get { 5 } }
    /// Factor by which the calm must exceed the widest interval between long delays.
    private static var calmFactor: Int { @_noLocks get { 3 } }
    /// Packets gathered per arrival, beyond the first, from which a sender counts as one that gathers.
    private static var gatheringShare: Double { @_noLocks get { 0.6 } }
    /// Seconds of a sender's gathering that the bound allows at most.
    private static var longestGathering: Double { @_noLocks get { 0.2 } }
    /// Seconds of delay below which nothing is forgotten early.
    private static var worthForgetting: Double { @_noLocks get { 0.004 } }
    /// Bins above the least at which all later packets are counted; beyond is room for a lower least.
    private static var lastBin: Int { @_noLocks get { 3_900 } }

    /// Seconds above the least that the delay may reach: the ceiling, and the sound that the sender itself gathers before it
    /// sends.
    var bound: Double {
        @_noLocks @inline(__always) get {
            let gathered = groupCount > 0 ? Double(packetCount) / Double(groupCount) - 1 : 0
            return dial.ceiling
                + (gathered > Self.gatheringShare ? min(Self.longestGathering, gathered * packetLength) : 0)
        }
    }

    @_noLocks
    mutating func beginWindow(at now: Double) {
        forgetSpell()
        if windows.count == DelayWindows.capacity { removeOldest() }
        windows.append(start: now)
        isStale = true
    }

    /// Removes long delays that are over before they are too old: those that came again and again, at least every few windows, and
    /// have not come for three times as long. Delays that came once or twice, or seldom, say nothing by staying away.
    @_noLocks
    private mutating func forgetSpell() {
        guard windows.count > Self.shortestCalm, dial.forgetsSpells else { return }
        if isStale { update() }
        guard target - least > Self.worthForgetting else { return }
        let long = least + (target - least) / 2
        var (longCount, calm, kept) = (0, 0, 0)
        var (run, widest) = (0, 1)
        for age in 0..<windows.count {
            let window = windows[age]
            if window.pointee.isEmpty { continue }
            run &+= 1
            guard window.pointee.most > long else { continue }
            if longCount == 0 { (calm, kept) = (run &- 1, age) } else { widest = max(widest, run) }
            longCount &+= 1
            run = 0
        }
        guard longCount > Self.leastLongCount, calm >= Self.shortestCalm, calm >= Self.calmFactor &* widest else {
            return
        }
        while windows.count > kept { removeOldest() }
    }

    /// Removes the windows that are too old.
    @_noLocks
    mutating func expire(at now: Double) {
        while windows.count > 0, now - windows.oldest.pointee.start > dial.memory { removeOldest() }
        expireFault(at: now)
    }

    @_noLocks
    mutating func removeOldest() {
        let window = windows.oldest
        histogram.clear(row: window.pointee.row, window.pointee.low, window.pointee.high, counts: true)
        packetCount &-= window.pointee.count
        groupCount &-= window.pointee.groups
        windows.removeOldest()
        isStale = true
    }

    /// Counts a packet in the newest window.
    @_noLocks
    mutating func count(_ level: Double, at now: Double) {
        let bin = cappedBin(level)
        if level < least, self.bin(least) &+ Self.lastBin &- bin > DelayHistogram.span {
            beginLower(level, at: now)
        }
        histogram.add(bin, row: windows.newest.pointee.row, counts: true)
        windows.newest.pointee.add(level, bin: bin)
        isStale = true
    }

    /// Forgets all but a packet so much quicker than those before that its bin would be another's: they have nothing in common.
    @_noLocks
    private mutating func beginLower(_ level: Double, at now: Double) {
        while windows.count > 0 { removeOldest() }
        windows.append(start: now)
        openStall = cleared(openStall)
        fault = cleared(fault)
        (least, target, latest) = (level, level, level)
    }

    @_noLocks @inline(__always)
    private func bin(_ level: Double) -> Int {
        let x = (level - zero) / DelayHistogram.binWidth
        let whole = Int(x)
        return Double(whole) > x ? whole &- 1 : whole
    }

    /// The bin of a level, or the last one that is in use.
    @_noLocks @inline(__always)
    func cappedBin(_ level: Double) -> Int { min(bin(level), bin(least) &+ Self.lastBin) }

    /// Finds the least level and the one that leaves as many above it as may be late, or the knee above that.
    @_noLocks
    mutating func update() {
        var (lowest, highest) = (Double.infinity, -Double.infinity)
        var (low, high) = (Int.max, Int.min)
        for age in 0..<windows.count {
            let window = windows[age]
            if window.pointee.isEmpty { continue }
            lowest = min(lowest, window.pointee.least)
            highest = max(highest, window.pointee.most)
            low = min(low, window.pointee.low)
            high = max(high, window.pointee.high)
        }
        guard low <= high else { return }
        isStale = false
        least = lowest
        latest = highest
        let top = min(highest, least + bound)
        let from = min(high, bin(top))
        let packets = histogram.descend(from: from, to: low, allowed: .max &- 1).above
        let beyond = histogram.descend(from: high, to: from &+ 1, allowed: .max &- 1).above
        // Packets beyond saving have used up the share already; the others must make do with a quarter.
        let share = Double(beyond) > dial.lateShare * Double(packets) ? dial.lateShare / 4 : dial.lateShare
        let allowed = Int(share * Double(packets))
        var found = histogram.descend(from: from, to: low, allowed: allowed).bin
        if dial.worth > 0 {
            found = histogram.knee(from: from, to: max(low, found), price: DelayHistogram.binWidth / dial.worth)
        }
        target = max(least, min(top, zero + Double(found &+ 1) * DelayHistogram.binWidth))
    }
}
