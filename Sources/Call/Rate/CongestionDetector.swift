// SPDX-License-Identifier: Apache-2.0

/// Finds, where packets arrive, that the link they come by is too slow for them: they wait before it, and ever longer.
///
/// A packet's delay is its arrival time minus its position on the sender's timeline. Its wait is the delay above the least of the
/// last half minute. The least wait of each slot of 40 ms counts, since a queue delays all packets and jitter does not. The link is
/// too slow if this wait exceeds 50 ms, more than Wi-Fi jitter, and grows from slot to slot; if it stays there while a third of the
/// packets is lost, or after the sender was told; and if two in five packets are lost, a few at a time. The rate of the packets
/// that arrive meanwhile is the capacity of the link. Growing delay is the signal of Google's congestion control (Carlucci et al.
/// 2016, §3), the least delay that of LEDBAT (RFC 6817 §3.4).
///
/// A value without clock or thread: instants come in as seconds of any one clock. It never grows.
struct CongestionDetector {
    /// A finding.
    struct Finding: Equatable {
        /// Bits a second that came through, with headers.
        let bitRate: Double
        /// True if less than half of what is sent comes through.
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

    /// True if packets wait no longer, after a finding; true once.
    private(set) var isRelieved = false

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
    private var awaitsRelief = false
    private var relievedAt = -Double.infinity

    /// Seconds of a slot, of what is no jitter, and between two findings.
    private static let (slotLength, standing, pause) = (0.040, 0.050, 0.2)
    /// Missing packets in a row that are an outage.
    private static let longestRun = 16

    /// The speed of the sender's clock relative to this one: +0.01 is 1 % fast.
    private var clock = 0.0
    /// The greatest difference of two crystals; less does not look like a growing queue.
    private static let crystal = 1e-3

    /// Restarts for a new source, whose numbers and times are unrelated.
    mutating func restart() {
        let clock = clock
        self = CongestionDetector()
        self.clock = clock
    }

    /// Takes what playout has found of the sender's clock. One that is some percent slow, of a card that does not keep the rate it
    /// says, would look like a link that is full for ever.
    mutating func follow(drift: Double) {
        let far = abs(drift) > Self.crystal ? drift : 0
        guard abs(far - clock) > Self.crystal else { return }
        clock = far
        restart()
    }

    /// Takes note of a datagram that is no packet of sound.
    mutating func count(byteCount: Int) { otherBytes += byteCount }

    /// Takes a packet of sound that came by itself.
    /// - Parameters:
    ///   - sequence: its number, unwrapped.
    ///   - end: the place behind its last frame, in seconds of the sender's timeline.
    ///   - duration: seconds of sound in it.
    ///   - byteCount: of the datagram, with the headers of IP and UDP.
    ///   - now: seconds.
    /// - Returns: what is found, at most five times a second.
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

    /// Evaluates the received packets when due: on a link far too slow the next packet may take long.
    /// - Returns: as ``add(sequence:end:duration:byteCount:at:)``.
    mutating func tick(at now: Double) -> Finding? {
        guard isOpen, now >= open.began + Self.slotLength else { return nil }
        close()
        return judge(at: now)
    }

    /// Takes ``isRelieved`` back.
    mutating func takeRelief() -> Bool {
        defer { isRelieved = false }
        return isRelieved
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
        // A full queue is no base.
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

    /// The slot so many before the newest that is closed.
    private func slot(_ back: Int) -> Slot { slots[(closed - 1 - back) % 32] }

    private mutating func judge(at now: Double) -> Finding? {
        guard closed >= 2 else { return nil }
        var base = Double.infinity
        for i in 0..<6 { base = min(base, bases[i]) }
        let wait = slot(0).least - base
        if awaitsRelief, wait < 0.030, wait > slot(1).least - base - 0.003 {
            awaitsRelief = false
            isRelieved = true
            relievedAt = now
        }
        guard now - lastFinding >= Self.pause else { return nil }
        let isStanding = wait > Self.standing
        let loses = loss(since: now - 0.5, atLeast: 20) >= 0.35
        let isFull = isStanding && (hasCollapsed || isGrowing || isGrowingSlowly(base) || loses)
        guard isFull || staysTold(base, at: now) || drops(at: now), let bitRate else { return nil }
        lastFinding = now
        if isFull { lastGrowth = now }
        awaitsRelief = isStanding
        return Finding(bitRate: bitRate, isSevere: isStanding && isSevere)
    }

    /// Returns true if less than half of what is sent comes through: of the last two slots, and in each the wait has grown.
    private var isSevere: Bool {
        for older in 1...back where slot(older - 1).least - slot(older).least < 0.45 * Self.slotLength { return false }
        return pace < 0.5
    }

    /// Returns true if of each of the last two slots a quarter came, or less, the second later by 40 ms: of PCM one packet or two,
    /// where a stall would let go of all, and another way would go on with as many as before.
    private var hasCollapsed: Bool {
        let most = 0.25 * Self.slotLength
        return max(slot(0).sound, slot(1).sound) <= most && slot(0).least - slot(1).least > 0.8 * Self.standing
    }

    /// Seconds of sound that came in each second, over the last two slots.
    private var pace: Double { (slot(0).end - slot(back).end) / max(0.001, slot(0).ended - slot(back).ended) }

    /// The slot behind which the last two begin, or as many as there are.
    private var back: Int { min(2, closed - 1) }

    /// Returns true if three to eight slots on end have waited longer from each to the next, by 25 ms in all and by 10 without the
    /// longest step: one alone is another way.
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

    /// Returns true if all of the last 0.8 s has waited, and of the second half the least by 8 ms more.
    private func isGrowingSlowly(_ base: Double) -> Bool {
        guard closed >= 20 else { return false }
        var (newer, older) = (Double.infinity, Double.infinity)
        for back in 0..<10 { (newer, older) = (min(newer, slot(back).least), min(older, slot(back + 10).least)) }
        return older - base > 0.8 * Self.standing && newer - older > 0.008
    }

    /// Returns true if all has waited for a second though the sender was told within the last ten, and no less at the end of it;
    /// true at most each two seconds.
    private func staysTold(_ base: Double, at now: Double) -> Bool {
        guard closed >= 25, now - lastGrowth < 10, now - lastFinding > 2 else { return false }
        for back in 0..<25 where slot(back).least - base < Self.standing { return false }
        return slot(0).least > slot(24).least - 0.015
    }

    /// Returns true if of the last second two packets in five are missing, outages left out.
    private func drops(at now: Double) -> Bool {
        // Packets that are missing until the queue is short again were sent before that was known.
        !awaitsRelief && closed >= 3 && loss(since: max(relievedAt, now - 1), atLeast: 30, withOutages: false) >= 0.4
    }

    /// The share of packets that is missing; 0 if there were fewer than `least`.
    private func loss(since: Double, atLeast least: Int, withOutages: Bool = true) -> Double {
        var (expected, missing) = (0, 0)
        for back in 0..<min(closed, 25) where slot(back).began > since {
            let outage = withOutages ? 0 : slot(back).outage
            expected += slot(back).expected - outage
            missing += slot(back).missing - outage
        }
        return expected >= least ? Double(missing) / Double(expected) : 0
    }

    /// The rate of the last two slots, in bits a second.
    private var bitRate: Double? {
        let elapsed = slot(0).ended - slot(back).ended
        guard elapsed > 0.02 else { return nil }
        return Double(8 * (slot(0).bytes + (back > 1 ? slot(1).bytes : 0))) / elapsed
    }
}
