extension DelayTracker {
    /// Seconds for which a stall that was the only one of its kind is remembered.
    private static var pardon: Double { @_noLocks get { 12 } }
    /// Seconds from the first late packet to the last, at most, of what is a stall and not a change for the worse.
    private static var longestRun: Double { @_noLocks get { 0.06 } }
    /// Windows without a long delay, at least, before those that were are taken for over: half of the memory.
    private static var shortestCalm: Int { @_noLocks get { 8 } }
    /// Seconds of delay that are not worth it.
    private static var worthForgetting: Double { @_noLocks get { 0.004 } }
    /// Bins above the least at which all that is later is counted; beyond is room for a lower least.
    private static var lastBin: Int { @_noLocks get { 3_900 } }

    var oldest: Int { @_noLocks get { (newest &+ 1 &+ Self.windowCount &- count) % Self.windowCount } }

    /// Seconds above the least that the delay may reach: the ceiling, and what the sender itself gathers before it
    /// sends.
    var bound: Double {
        @_noLocks get {
            let gathered = groupCount > 0 ? Double(packetCount) / Double(groupCount) - 1 : 0
            return dial.ceiling + (gathered > 0.6 ? min(0.2, gathered * packetLength) : 0)
        }
    }

    @_noLocks
    mutating func beginWindow(at now: Double) {
        forgetSpell()
        newest = (newest &+ 1) % Self.windowCount
        empty(newest)
        count = min(count &+ 1, Self.windowCount)
        windows[newest].start = now
        isStale = true
    }

    /// Lets go of long delays that are over before they are too old: what came again and again, at least every few windows, and has
    /// not come for three times as long. What came once or twice, or seldom, says nothing by staying away.
    @_noLocks
    private mutating func forgetSpell() {
        guard count > Self.shortestCalm, dial.forgetsSpells else { return }
        if isStale { update() }
        guard target - least > Self.worthForgetting else { return }
        let long = least + (target - least) / 2
        var (longCount, calm, kept) = (0, 0, 0)
        var (run, widest) = (0, 1)
        for age in 0..<count {
            let window = windows[(newest &+ Self.windowCount &- age) % Self.windowCount]
            if window.isEmpty { continue }
            run &+= 1
            guard window.most > long else { continue }
            if longCount == 0 { (calm, kept) = (run &- 1, age) } else { widest = max(widest, run) }
            longCount &+= 1
            run = 0
        }
        guard longCount > 5, calm >= Self.shortestCalm, calm >= 3 &* widest else { return }
        while count > kept { removeOldest() }
    }

    /// Lets go of what is too old.
    @_noLocks
    mutating func expire(at now: Double) {
        while count > 0, now - windows[oldest].start > dial.memory { removeOldest() }
        if !windows[Self.fault].isEmpty, now - windows[Self.fault].start > Self.pardon { empty(Self.fault) }
    }

    @_noLocks
    mutating func removeOldest() {
        empty(oldest)
        count &-= 1
        isStale = true
    }

    @_noLocks
    mutating func empty(_ window: Int) {
        let w = windows[window]
        histogram.clear(row: w.row, w.low, w.high, counts: window < Self.windowCount)
        packetCount &-= w.count
        groupCount &-= w.groups
        windows[window] = Window(row: w.row)
    }

    @_noLocks
    func bin(_ level: Double) -> Int {
        let x = (level - zero) / DelayHistogram.binWidth
        let whole = Int(x)
        return Double(whole) > x ? whole &- 1 : whole
    }

    @_noLocks
    mutating func put(_ level: Double, in window: Int, at now: Double) {
        let at = min(bin(level), bin(least) &+ Self.lastBin)
        // A packet so much quicker than all before that its bin would be another's: they have nothing in common.
        if level < least, bin(least) &+ Self.lastBin &- at > DelayHistogram.span {
            while count > 1 { removeOldest() }
            empty(newest)
            empty(Self.open)
            empty(Self.fault)
            windows[newest].start = now
            (least, target, latest) = (level, level, level)
        }
        histogram.add(at, row: windows[window].row, counts: window < Self.windowCount)
        windows[window].least = min(windows[window].least, level)
        windows[window].most = max(windows[window].most, level)
        windows[window].low = min(windows[window].low, at)
        windows[window].high = max(windows[window].high, at)
        isStale = true
    }

    /// Whether a late packet belongs to a stall: those come all at once, when it ends.
    @_noLocks
    mutating func isStall(at now: Double) -> Bool {
        if windows[Self.open].isEmpty {
            windows[Self.open].start = now
            return true
        }
        if now - windows[Self.open].start <= max(Self.longestRun, 3 * packetLength) { return true }
        join(Self.open)
        return false
    }

    /// A run of late packets has ended: it is put aside if nothing of its size is known, and counted otherwise.
    @_noLocks
    mutating func judge() {
        let size = windows[Self.open].most - least
        let faultSize = windows[Self.fault].isEmpty ? 0 : windows[Self.fault].most - least
        var known = faultSize
        for i in 0..<Self.windowCount where !windows[i].isEmpty { known = max(known, windows[i].most - least) }
        if known < size / 2 {
            join(Self.fault)
            let row = windows[Self.fault].row
            windows[Self.fault] = windows[Self.open]
            windows[Self.open] = Window(row: row)
        } else {
            if faultSize <= 2 * size { join(Self.fault) }
            join(Self.open)
        }
    }

    /// Counts with the rest what was put aside.
    @_noLocks
    mutating func join(_ window: Int) {
        let w = windows[window]
        guard !w.isEmpty else { return }
        histogram.move(from: w.row, to: windows[newest].row, w.low, w.high)
        windows[newest].least = min(windows[newest].least, w.least)
        windows[newest].most = max(windows[newest].most, w.most)
        windows[newest].low = min(windows[newest].low, w.low)
        windows[newest].high = max(windows[newest].high, w.high)
        windows[window] = Window(row: w.row)
        isStale = true
    }

    /// Finds the least level and the one that leaves as many above it as may be late, or the knee above that.
    @_noLocks
    mutating func update() {
        guard count > 0 else { return }
        var (lowest, highest) = (Double.infinity, -Double.infinity)
        var (low, high) = (Int.max, Int.min)
        for i in 0..<Self.windowCount where !windows[i].isEmpty {
            lowest = min(lowest, windows[i].least)
            highest = max(highest, windows[i].most)
            low = min(low, windows[i].low)
            high = max(high, windows[i].high)
        }
        guard low <= high else { return }
        isStale = false
        least = lowest
        latest = highest
        let top = min(highest, least + bound)
        let from = min(high, bin(top))
        let packets = histogram.descend(from: from, to: low, allowed: .max &- 1).above
        let beyond = histogram.descend(from: high, to: from &+ 1, allowed: .max &- 1).above
        // What is beyond saving has used up the share already; the rest must make do with a quarter.
        let share = Double(beyond) > dial.lateShare * Double(packets) ? dial.lateShare / 4 : dial.lateShare
        let allowed = Int(share * Double(packets))
        var found = histogram.descend(from: from, to: low, allowed: allowed).bin
        if dial.worth > 0 {
            found = histogram.knee(from: from, to: max(low, found), price: DelayHistogram.binWidth / dial.worth)
        }
        target = max(least, min(top, zero + Double(found &+ 1) * DelayHistogram.binWidth))
    }
}
