// SPDX-License-Identifier: Apache-2.0

/// Detects at the receiver that the link is too slow: packets queue before it, longer and longer.
///
/// A packet's delay is its arrival time minus its position on the sender's timeline. Its wait is the delay above the minimum of
/// the last half minute. The minimum wait of each slot of 40 ms counts, since a queue delays all packets and jitter does not. The
/// link is too slow if this wait exceeds 50 ms, more than Wi-Fi jitter, and grows from slot to slot; if it stays there while a
/// third of the packets is lost, or after the sender was told; and if two in five packets are lost, a few at a time. The rate of
/// the packets that arrive meanwhile is the capacity of the link. Growing delay is the signal of Google's congestion control
/// (Carlucci et al. 2016, §3), the minimum delay that of LEDBAT (RFC 6817 §3.4).
///
/// A value without clock or thread: times are seconds of any one clock. It never grows.
struct CongestionDetector {
    /// A detected congestion.
    struct Finding: Equatable {
        /// The bits a second that arrived, with headers.
        let bitRate: Double
        /// True if less than half of what is sent arrives.
        let isSevere: Bool
    }

    private struct Slot {
        var began = 0.0
        var ended = 0.0
        var bytes = 0
        var least = Double.infinity
        var end = 0.0  // of the sound that came last, seconds of the sender's timeline
        var sound = 0.0  // seconds of it
        var expected = 0  // by the numbers
        var missing = 0
        var outage = 0  // of `missing`: in runs that are no matter of a queue
    }

    /// True once after a finding when packets no longer wait.
    private(set) var hasCleared = false

    // On the heap, as an InlineArray is copied whole for each look at a slot.
    private var slots = Array(repeating: Slot(), count: 32)
    private var closed = 0  // slots so far; the newest is at (closed − 1) mod 32
    private var open = Slot()
    private var isOpen = false
    private var otherBytes = 0
    private var highest: Int?
    private var lastOffset = 0.0
    private var bases = InlineArray<6, Double>(repeating: .infinity)  // least offsets, of five seconds each
    private var baseIndex = 0
    private var baseSince = -Double.infinity
    private var lastFinding = -Double.infinity
    private var lastGrowth = -Double.infinity  // the last finding by more than that the sender was told
    private var awaitsClearing = false
    private var clearedAt = -Double.infinity

    /// The seconds of a slot, the wait that is more than jitter, and the seconds between two findings.
    private static let (slotLength, standing, pause) = (0.040, 0.050, 0.2)
    /// The missing packets in a row that count as an outage.
    private static let longestRun = 16

    /// The speed of the sender's clock relative to this one: +0.01 is 1 % fast.
    private var clock = 0.0
    /// The maximum difference of two crystals; a smaller drift does not look like a growing queue.
    private static let crystal = 1e-3

    /// Restarts for a new source with unrelated numbers and times.
    mutating func restart() {
        let clock = clock
        self = CongestionDetector()
        self.clock = clock
    }

    /// Sets the sender's drift that playout has measured. A clock that is some percent slow, of a card that does not keep its
    /// nominal rate, would look like a permanently full link.
    mutating func follow(drift: Double) {
        let far = abs(drift) > Self.crystal ? drift : 0
        guard abs(far - clock) > Self.crystal else { return }
        clock = far
        restart()
    }

    /// Counts a datagram that is no packet of sound.
    mutating func count(byteCount: Int) { otherBytes += byteCount }

    /// Adds a packet of sound that was not a retransmission.
    /// - Parameters:
    ///   - sequence: its unwrapped number.
    ///   - end: the position after its last frame, in seconds of the sender's timeline.
    ///   - duration: its seconds of sound.
    ///   - byteCount: the bytes of the datagram with the headers of IP and UDP.
    ///   - now: seconds.
    /// - Returns: a finding, at most five times a second.
    mutating func add(sequence: Int, end: Double, duration: Double, byteCount: Int, at now: Double) -> Finding? {
        let offset = now - end / (1 + clock)
        if highest != nil, abs(offset - lastOffset) > 2 { restart() }
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

    /// Evaluates the received packets when due: on a very slow link the next packet may take long.
    /// - Returns: as ``add(sequence:end:duration:byteCount:at:)``.
    mutating func tick(at now: Double) -> Finding? {
        guard isOpen, now >= open.began + Self.slotLength else { return nil }
        close()
        return judge(at: now)
    }

    /// Returns ``hasCleared`` and resets it.
    mutating func takeCleared() -> Bool {
        defer { hasCleared = false }
        return hasCleared
    }

    private mutating func countLoss(_ sequence: Int) {
        if let highest {
            // A reordered packet was counted as missing, possibly in an earlier slot: the sum is right.
            guard sequence > highest else { return open.missing -= 1 }
            let run = sequence - highest - 1
            open.expected += run + 1
            open.missing += run
            if run > Self.longestRun { open.outage += run }
        }
        highest = sequence
    }

    private mutating func followBase(_ offset: Double, at now: Double) {
        // While the queue is full, the minimum is not the base delay.
        if now - baseSince > 5, now - lastGrowth > 10 {
            baseIndex = (baseIndex + 1) % 6
            bases[baseIndex] = .infinity
            baseSince = now
        }
        bases[baseIndex] = min(bases[baseIndex], offset)
    }

    private mutating func close() {
        slots[closed % 32] = open
        closed += 1
        isOpen = false
    }

    /// Returns a closed slot, counted back from the newest.
    private func slot(_ back: Int) -> Slot { slots[(closed - 1 - back) % 32] }

    private mutating func judge(at now: Double) -> Finding? {
        guard closed >= 2 else { return nil }
        var base = Double.infinity
        for i in 0..<6 { base = min(base, bases[i]) }
        let wait = slot(0).least - base
        if awaitsClearing, wait < 0.030, wait > slot(1).least - base - 0.003 {
            awaitsClearing = false
            hasCleared = true
            clearedAt = now
        }
        guard now - lastFinding >= Self.pause else { return nil }
        let isStanding = wait > Self.standing
        let loses = loss(since: now - 0.5, atLeast: 20) >= 0.35
        let isFull = isStanding && (hasCollapsed || isGrowing || isGrowingSlowly(base) || loses)
        guard isFull || staysCongested(base, at: now) || drops(at: now), let bitRate else { return nil }
        lastFinding = now
        if isFull { lastGrowth = now }
        awaitsClearing = isStanding
        return Finding(bitRate: bitRate, isSevere: isStanding && isSevere)
    }

    /// Returns true if less than half of what is sent arrives in the last two slots, and the wait has grown in each.
    private var isSevere: Bool {
        for older in 1...back where slot(older - 1).least - slot(older).least < 0.45 * Self.slotLength { return false }
        return pace < 0.5
    }

    /// Returns true if at most a quarter arrived in each of the last two slots, the second one 40 ms later: one or two packets of
    /// PCM. After a stall all packets would arrive at once, and on another route as many as before.
    private var hasCollapsed: Bool {
        let most = 0.25 * Self.slotLength
        return max(slot(0).sound, slot(1).sound) <= most && slot(0).least - slot(1).least > 0.8 * Self.standing
    }

    /// The seconds of sound that arrived in a second, over the last two slots.
    private var pace: Double { (slot(0).end - slot(back).end) / max(0.001, slot(0).ended - slot(back).ended) }

    /// The slot before the last two, or before as many as exist.
    private var back: Int { min(2, closed - 1) }

    /// Returns true if the wait has grown over three to eight slots in a row, by 25 ms in all and by 10 ms without the largest
    /// step: a single step is a change of route.
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

    /// Returns true if everything in the last 0.8 s waited, and the minimum of its second half is 8 ms greater.
    private func isGrowingSlowly(_ base: Double) -> Bool {
        guard closed >= 20 else { return false }
        var (newer, older) = (Double.infinity, Double.infinity)
        for back in 0..<10 { (newer, older) = (min(newer, slot(back).least), min(older, slot(back + 10).least)) }
        return older - base > 0.8 * Self.standing && newer - older > 0.008
    }

    /// Returns true if everything waited for a second, and no less at its end, although the sender was told within the last ten
    /// seconds; true at most every two seconds.
    private func staysCongested(_ base: Double, at now: Double) -> Bool {
        guard closed >= 25, now - lastGrowth < 10, now - lastFinding > 2 else { return false }
        for back in 0..<25 where slot(back).least - base < Self.standing { return false }
        return slot(0).least > slot(24).least - 0.015
    }

    /// Returns true if two in five packets of the last second are missing, without outages.
    private func drops(at now: Double) -> Bool {
        // Until the queue is short again, missing packets were sent before the finding was known.
        !awaitsClearing && closed >= 3 && loss(since: max(clearedAt, now - 1), atLeast: 30, withOutages: false) >= 0.4
    }

    /// Returns the share of missing packets; 0 if there were fewer than `least` packets.
    private func loss(since: Double, atLeast least: Int, withOutages: Bool = true) -> Double {
        var (expected, missing) = (0, 0)
        for back in 0..<min(closed, 25) where slot(back).began > since {
            let outage = withOutages ? 0 : slot(back).outage
            expected += slot(back).expected - outage
            missing += slot(back).missing - outage
        }
        return expected >= least ? Double(missing) / Double(expected) : 0
    }

    /// The bits a second over the last two slots.
    private var bitRate: Double? {
        let elapsed = slot(0).ended - slot(back).ended
        guard elapsed > 0.02 else { return nil }
        return Double(8 * (slot(0).bytes + (back > 1 ? slot(1).bytes : 0))) / elapsed
    }
}
