// SPDX-License-Identifier: Apache-2.0

extension DelayTracker {
    /// The minimum windows without a long delay after which a spell of long delays has ended: half of the memory.
    private static var shortestCalm: Int { @_noLocks get { 8 } }
    /// A spell has more windows with long delays than this: the absence of so few means nothing.
    private static var leastLongCount: Int { @_noLocks get { 5 } }
    /// The minimum ratio of the windows without long delays to the longest interval between two windows with long delays.
    private static var calmFactor: Int { @_noLocks get { 3 } }
    /// The mean number of further packets in an arrival above which the sender counts as one that collects packets.
    private static var gatheringShare: Double { @_noLocks get { 0.6 } }
    /// The maximum seconds that ``bound`` adds for a sender that collects packets.
    private static var longestGathering: Double { @_noLocks get { 0.2 } }
    /// The seconds of delay below which nothing is forgotten early.
    private static var leastForgettableDelay: Double { @_noLocks get { 0.004 } }
    /// The bin, counted from that of the least level, in which all later packets are counted; the bins beyond are room for a
    /// lower least level.
    private static var lastBin: Int { @_noLocks get { 3_900 } }

    /// The maximum seconds of the target above the least level: the ceiling, plus the sound that the sender collects before it
    /// sends.
    var bound: Double {
        @_noLocks @inline(__always) get {
            let gathered = groupCount > 0 ? Double(packetCount) / Double(groupCount) - 1 : 0
            return latencyProfile.ceiling
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

    /// Removes the long delays of an ended spell before they are too old: those that recurred at least every few windows, and
    /// have been absent for three times as long. The absence of rare delays means nothing.
    @_noLocks
    private mutating func forgetSpell() {
        guard windows.count > Self.shortestCalm, latencyProfile.forgetsSpells else { return }
        if isStale { update() }
        guard target - least > Self.leastForgettableDelay else { return }
        let long = least + (target - least) / 2
        var (longCount, calm, keptWindows) = (0, 0, 0)
        var (gap, maxGap) = (0, 1)
        for age in 0..<windows.count {
            let window = windows[age]
            if window.pointee.isEmpty { continue }
            gap &+= 1
            guard window.pointee.most > long else { continue }
            if longCount == 0 { (calm, keptWindows) = (gap &- 1, age) } else { maxGap = max(maxGap, gap) }
            longCount &+= 1
            gap = 0
        }
        guard longCount > Self.leastLongCount, calm >= Self.shortestCalm, calm >= Self.calmFactor &* maxGap else {
            return
        }
        while windows.count > keptWindows { removeOldest() }
    }

    /// Removes windows that are too old.
    @_noLocks
    mutating func expire(at now: Double) {
        while windows.count > 0, now - windows.oldest.pointee.start > latencyProfile.memory { removeOldest() }
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

    /// Forgets all previous packets, because a packet so early would share bins with them.
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
        let truncated = Int(x)
        return Double(truncated) > x ? truncated &- 1 : truncated
    }

    /// Returns the bin of a level, clamped to the last one in use.
    @_noLocks @inline(__always)
    func cappedBin(_ level: Double) -> Int { min(bin(level), bin(least) &+ Self.lastBin) }

    /// Finds the least level in the windows, the latest one, and the target: the level with the allowed share of packets above,
    /// or for a fast profile the knee at or above that level.
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
        let topBin = min(high, bin(top))
        let packets = histogram.descend(from: topBin, to: low, allowed: .max &- 1).above
        let packetsBeyond = histogram.descend(from: high, to: topBin &+ 1, allowed: .max &- 1).above
        // Packets beyond `top` are late in any case. If they alone exceed `lateShare`, only a quarter of `lateShare` of the other
        // packets may be late.
        let share =
            Double(packetsBeyond) > latencyProfile.lateShare * Double(packets)
            ? latencyProfile.lateShare / 4 : latencyProfile.lateShare
        let allowed = Int(share * Double(packets))
        var goal = histogram.descend(from: topBin, to: low, allowed: allowed).bin
        if latencyProfile.delayPerSavedPacket > 0 {
            goal = histogram.knee(
                from: topBin, to: max(low, goal), price: DelayHistogram.binWidth / latencyProfile.delayPerSavedPacket)
        }
        target = max(least, min(top, zero + Double(goal &+ 1) * DelayHistogram.binWidth))
    }
}
