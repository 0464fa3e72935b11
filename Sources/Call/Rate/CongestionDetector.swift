// SPDX-License-Identifier: Apache-2.0

/// Detects at the receiver that the link is too slow: packets wait in a queue before the link, longer and longer.
///
/// A packet's delay is its arrival time minus its position on the sender's timeline. Its wait is the delay above the minimum of
/// the last half minute. The minimum wait of each slot of 40 ms counts, since a queue delays all packets and jitter does not. The
/// link is too slow in three cases. The wait exceeds 50 ms, more than Wi-Fi jitter, and grows from slot to slot. Or the wait
/// stays above 50 ms while a third of the packets is lost, or although the sender was told. Or two in five packets are lost, a
/// few at a time. The rate of the packets that arrive meanwhile is the capacity of the link. Growing delay is the signal of
/// Google's congestion control (Carlucci et al. 2016, §3), the minimum delay that of LEDBAT (RFC 6817 §3.4).
///
/// A value without clock or thread: times are seconds of any one clock. Its memory never grows.
struct CongestionDetector {
    /// A detected congestion.
    struct Finding: Equatable {
        /// The bits a second that arrived, with headers.
        let bitRate: Double
        /// True if less than half of what is sent arrives, and the rest queues.
        let isSevere: Bool
    }

    private struct Slot {
        var began = 0.0
        var ended = 0.0
        var bytes = 0
        var least = Double.infinity  // the least offset: arrival minus position
        var end = 0.0  // the last packet's, in seconds of the sender's timeline
        var sound = 0.0  // the seconds of sound in the packets
        var expected = 0  // packets, by their sequence numbers
        var missing = 0
        var outage = 0  // the part of `missing` in runs too long to be caused by a queue
    }

    /// True after a finding once packets no longer wait, until ``takeCleared()``.
    private(set) var hasCleared = false

    // An array on the heap, because each look at a slot of an InlineArray would copy all slots.
    private var slots = Array(repeating: Slot(), count: 32)
    private var closed = 0  // the number of slots so far; the newest is at (closed − 1) mod 32
    private var open = Slot()
    private var isOpen = false
    private var otherBytes = 0  // in datagrams since the last packet of sound
    private var highestSequence: Int?
    private var lastOffset = 0.0
    private var bases = InlineArray<6, Double>(repeating: .infinity)  // the least offset in each of six periods of 5 s
    private var baseIndex = 0
    private var baseSince = -Double.infinity
    private var lastFindingTime = -Double.infinity
    private var lastGrowthTime = -Double.infinity  // the last finding from a growing or lossy queue
    private var awaitsClearing = false  // from a finding with a standing queue until packets no longer wait
    private var clearedAt = -Double.infinity

    /// The seconds of a slot, the wait that is more than jitter, and the seconds between two findings.
    private static let (slotLength, standing, pause) = (0.040, 0.050, 0.2)
    /// The maximum missing packets in a row that may be due to a full queue; longer runs count as an outage.
    private static let longestRun = 16

    /// The drift of the sender's clock relative to the receiver's: +0.01 is 1 % fast. Smaller drifts than ``crystal`` count as 0.
    private var clockDrift = 0.0
    /// The maximum drift between two clocks with crystals; such a drift does not look like a growing queue.
    private static let crystal = 1e-3

    /// Restarts for a new source with unrelated numbers and times; the clock's drift stays.
    mutating func restart() {
        let clockDrift = clockDrift
        self = CongestionDetector()
        self.clockDrift = clockDrift
    }

    /// Sets the sender's drift that playout has measured. A clock that is some percent slow, of a card that does not keep its
    /// nominal rate, would look like a permanently full link.
    mutating func follow(drift: Double) {
        let relevantDrift = abs(drift) > Self.crystal ? drift : 0
        guard abs(relevantDrift - clockDrift) > Self.crystal else { return }
        clockDrift = relevantDrift
        restart()
    }

    /// Counts the bytes of a datagram that is not added as a packet of sound, such as a retransmission.
    mutating func count(byteCount: Int) { otherBytes += byteCount }

    /// Adds a packet of sound that was not a retransmission.
    /// - Parameters:
    ///   - sequence: the packet's unwrapped sequence number.
    ///   - end: the position after the packet's last frame, in seconds of the sender's timeline.
    ///   - duration: the seconds of sound in the packet.
    ///   - byteCount: the bytes of the datagram with the headers of IP and UDP.
    ///   - now: the time of arrival in seconds.
    /// - Returns: a finding if the link is too slow, at most five times a second.
    mutating func add(sequence: Int, end: Double, duration: Double, byteCount: Int, at now: Double) -> Finding? {
        let offset = now - end / (1 + clockDrift)
        if highestSequence != nil, abs(offset - lastOffset) > 2 { restart() }
        lastOffset = offset
        followBase(offset, at: now)
        let finding = tick(at: now)
        if !isOpen {
            open = Slot(began: now)
            isOpen = true
        }
        open.ended = now
        open.bytes += byteCount + otherBytes
        otherBytes = 0
        open.least = min(open.least, offset)
        open.end = end
        open.sound += duration
        countLoss(sequence)
        return finding
    }

    /// Evaluates the received packets if a slot has ended, because on a very slow link the next packet may take long.
    /// - Returns: a finding, as ``add(sequence:end:duration:byteCount:at:)`` does.
    mutating func tick(at now: Double) -> Finding? {
        guard isOpen, now >= open.began + Self.slotLength else { return nil }
        close()
        return judge(at: now)
    }

    /// True if the packets of the last slot waited, for half as long as is certainly more than jitter.
    var isQueueing: Bool { closed > 0 && slot(0).least - base > Self.standing / 2 }

    /// Returns ``hasCleared`` and sets it to false.
    mutating func takeCleared() -> Bool {
        defer { hasCleared = false }
        return hasCleared
    }

    private mutating func countLoss(_ sequence: Int) {
        if let highestSequence {
            // A reordered packet was counted as missing, possibly in an earlier slot; the sum of the slots is right.
            guard sequence > highestSequence else { return open.missing -= 1 }
            let run = sequence - highestSequence - 1
            open.expected += run + 1
            open.missing += run
            if run > Self.longestRun { open.outage += run }
        }
        highestSequence = sequence
    }

    private mutating func followBase(_ offset: Double, at now: Double) {
        // A queue may remain for ten seconds after it grew; until then the least offset may not be the base delay.
        if now - baseSince > 5, now - lastGrowthTime > 10 {
            baseIndex = (baseIndex + 1) % 6
            bases[baseIndex] = .infinity
            baseSince = now
        }
        bases[baseIndex] = min(bases[baseIndex], offset)
    }

    /// The least offset of the last half minute.
    private var base: Double {
        var least = Double.infinity
        for i in 0..<6 { least = min(least, bases[i]) }
        return least
    }

    private mutating func close() {
        slots[closed % 32] = open
        closed += 1
        isOpen = false
    }

    /// Returns a closed slot, counted back from the newest, which is 0.
    private func slot(_ back: Int) -> Slot { slots[(closed - 1 - back) % 32] }

    private mutating func judge(at now: Double) -> Finding? {
        guard closed >= 2 else { return nil }
        let base = base
        let wait = slot(0).least - base
        if awaitsClearing, wait < 0.030, wait > slot(1).least - base - 0.003 {
            awaitsClearing = false
            hasCleared = true
            clearedAt = now
        }
        guard now - lastFindingTime >= Self.pause else { return nil }
        let isStanding = wait > Self.standing
        let loses = loss(since: now - 0.5, atLeast: 20) >= 0.35
        let isFull = isStanding && (hasCollapsed || isGrowing || isGrowingSlowly(base) || loses)
        guard isFull || staysCongested(base, at: now) || drops(at: now), let bitRate else { return nil }
        lastFindingTime = now
        if isFull { lastGrowthTime = now }
        awaitsClearing = isStanding
        return Finding(bitRate: bitRate, isSevere: isStanding && isSevere)
    }

    /// Returns true if less than half of what was sent arrived in the last two slots, and the wait grew by 18 ms or more in each.
    private var isSevere: Bool {
        for older in 1...prior where slot(older - 1).least - slot(older).least < 0.45 * Self.slotLength { return false }
        return pace < 0.5
    }

    /// Returns true if each of the last two slots got at most 10 ms of sound, a quarter of its length, and the wait grew by 40 ms
    /// from one to the other. After a stall all packets would arrive at once, and on another route as many as before.
    private var hasCollapsed: Bool {
        let quarterSlot = 0.25 * Self.slotLength
        return max(slot(0).sound, slot(1).sound) <= quarterSlot && slot(0).least - slot(1).least > 0.8 * Self.standing
    }

    /// The progress of the received sound on the sender's timeline, in seconds a second, over the last two slots.
    private var pace: Double { (slot(0).end - slot(prior).end) / max(0.001, slot(0).ended - slot(prior).ended) }

    /// The index, counted back from the newest slot, of the slot before the last two; of the oldest if there are only two.
    private var prior: Int { min(2, closed - 1) }

    /// Returns true if the wait has grown over three to eight slots in a row, by more than 25 ms in all and by more than 10 ms
    /// without the largest step, because a single step is a change of route.
    private var isGrowing: Bool {
        var longest = 0.0
        for back in 1..<min(8, closed) {
            let step = slot(back - 1).least - slot(back).least
            guard step > 0 else { return false }
            longest = max(longest, step)
            let all = slot(0).least - slot(back).least
            if all > 0.5 * Self.standing, all - longest > 0.2 * Self.standing { return true }
        }
        return false
    }

    /// Returns true if all packets of the last 0.8 s waited more than 40 ms, and the minimum wait of the second half is more than
    /// 8 ms greater than that of the first half.
    private func isGrowingSlowly(_ base: Double) -> Bool {
        guard closed >= 20 else { return false }
        var (newer, older) = (Double.infinity, Double.infinity)
        for back in 0..<10 { (newer, older) = (min(newer, slot(back).least), min(older, slot(back + 10).least)) }
        return older - base > 0.8 * Self.standing && newer - older > 0.008
    }

    /// Returns true if all packets of the last second waited 50 ms or more, at its end about as long as at its beginning,
    /// although the sender was told within the last ten seconds. True at most every two seconds.
    private func staysCongested(_ base: Double, at now: Double) -> Bool {
        guard closed >= 25, now - lastGrowthTime < 10, now - lastFindingTime > 2 else { return false }
        for back in 0..<25 where slot(back).least - base < Self.standing { return false }
        return slot(0).least > slot(24).least - 0.015
    }

    /// Returns true if two in five packets of the last second are missing, apart from outages.
    private func drops(at now: Double) -> Bool {
        // Until the queue is short again, missing packets may have been sent before the sender knew of the finding.
        !awaitsClearing && closed >= 3 && loss(since: max(clearedAt, now - 1), atLeast: 30, withOutages: false) >= 0.4
    }

    /// Returns the share of missing packets in the slots that began after `since`; 0 if these had fewer than `least` packets.
    private func loss(since: Double, atLeast least: Int, withOutages: Bool = true) -> Double {
        var (expected, missing) = (0, 0)
        for back in 0..<min(closed, 25) where slot(back).began > since {
            let outage = withOutages ? 0 : slot(back).outage
            expected += slot(back).expected - outage
            missing += slot(back).missing - outage
        }
        return expected >= least ? Double(missing) / Double(expected) : 0
    }

    /// The received bits a second over the last two slots; nil if they span 20 ms or less.
    private var bitRate: Double? {
        let elapsed = slot(0).ended - slot(prior).ended
        guard elapsed > 0.02 else { return nil }
        return Double(8 * (slot(0).bytes + (prior > 1 ? slot(1).bytes : 0))) / elapsed
    }
}
