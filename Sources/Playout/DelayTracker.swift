// SPDX-License-Identifier: Apache-2.0

/// Learns how late packets arrive, and which delay meets the dial.
///
/// A packet's *offset* is its arrival on the receiver's device clock less its end on the sender's timeline, in seconds.
/// A constant of it means nothing (the clocks have different origins), its slope is the drift between the devices, and
/// the remainder is the network. Offsets carried along the drift are *levels*: those of packets that waited nowhere are
/// equal.
///
/// Levels are counted in a histogram of the last 6 to 60 s (``PlayoutDial/memory``), in sixteen windows of which the
/// oldest is removed when the next begins; a spell of long delays that has been over for half of that is removed at
/// once, unless the dial is safer than `talk`. The delay wanted is the smallest at which the share of later ones is the one
/// that the dial allows, and of a dial quicker than `talk` the knee above it (``PlayoutDial/worth``). Packets beyond the dial's
/// ceiling, which no delay that is allowed would save, are left out of the sum.
///
/// A run of packets beyond the delay is a *stall*, and one that is more than twice anything known is put aside: a
/// fault, and not a reason to be late from now on. If one like it comes within 12 s, both are counted. Memory of
/// a fixed size, a small bounded work a packet; all but `init` is render-safe. Functions that read a few values are inlined: a call
/// of one copies all of the tracker.
struct DelayTracker: ~Copyable {
    /// Sets the share of late packets and the ceiling.
    private(set) var dial: PlayoutDial
    /// The glitches that each depth would have had here.
    private(set) var forecast = PlayoutForecast()
    private(set) var estimator = DriftEstimator()

    let histogram = DelayHistogram(rowCount: DelayWindows.capacity + 2)
    var windows = DelayWindows()
    /// The run of late packets that is going on; not in the sum.
    var openStall = DelayWindow(row: DelayWindows.capacity)
    /// The stall that was put aside; not in the sum.
    var fault = DelayWindow(row: DelayWindows.capacity + 1)
    var packetCount = 0  // of all windows
    var groupCount = 0
    var zero = 0.0  // the level at which bin 0 begins
    var least = 0.0  // level
    var target = 0.0
    var latest = 0.0  // level of the latest that counts
    var isStale = true  // packets came since both were found
    var knownSince = 0.0
    private var carried = 0.0  // seconds from offsets to levels, at `carriedAt`
    private var carriedAt = 0.0
    private var lastArrival = -Double.infinity
    private var beyondSince = Double.infinity
    private var hasBegun = false
    private var isAnew = false  // there was another beginning before

    init(dial: PlayoutDial) { self.dial = dial }

    /// Sender's clock against the receiver's: +10e-6 is a sender 10 ppm fast.
    var drift: Double { @_noLocks @inline(__always) get { estimator.drift } }

    /// Sets another share of late packets and another ceiling, from the next packet on.
    @_noLocks
    mutating func set(_ dial: PlayoutDial) {
        self.dial = dial
        isStale = true
    }

    /// Learns from the offset of one packet.
    /// - Parameters:
    ///   - now: its arrival on the receiver's device clock, in seconds.
    ///   - duration: seconds of sound in it.
    @_noLocks
    mutating func add(offset: Double, at now: Double, duration: Double) {
        let before = drift
        if estimator.add(offset: offset, at: now) { turn(by: drift - before, at: now) }
        let level = offset + carry(to: now)
        expire(at: now)
        if windows.count == 0 || hasPathChanged(level, at: now) || isBacklog(level, at: now, duration) {
            begin(at: level, now)
        }
        if now - windows.newest.pointee.start >= dial.memory / Double(DelayWindows.capacity) { beginWindow(at: now) }
        windows.newest.pointee.count &+= 1
        packetCount &+= 1
        if now - lastArrival > Self.togetherShare * duration {
            windows.newest.pointee.groups &+= 1
            groupCount &+= 1
        }
        lastArrival = max(lastArrival, now)
        windows.newest.pointee.packetLength = max(windows.newest.pointee.packetLength, duration)
        forecast.add(delay: level - least, at: now)
        if level > target, now - knownSince > Self.beginning {
            if isStall(at: now) { return addToStall(level) }
        } else if !openStall.isEmpty {
            endStall()
        }
        count(level, at: now)
    }

    /// The smallest offset, and the one that the delay must reach, of a packet that arrives at `now`.
    @_noLocks
    mutating func range(at now: Double) -> (least: Double, wanted: Double) {
        if isStale { update() }
        let carry = carry(to: now)
        return (least - carry, target - carry)
    }

    /// Seconds of the longest packet of late: by so much its first frame is older than its offset says.
    var packetLength: Double {
        @_noLocks @inline(__always) get {
            max(windows.newest.pointee.packetLength, windows.count > 1 ? windows[1].pointee.packetLength : 0)
        }
    }

    /// Seconds by which the latest packet of those that count is later than wanted.
    var tail: Double { @_noLocks @inline(__always) get { max(0, latest - target) } }

    /// Returns the age of the oldest known packet in seconds.
    @_noLocks @inline(__always)
    func age(at now: Double) -> Double { windows.count == 0 ? 0 : now - knownSince }

    /// Returns true if an offset is so far from all known ones that the sender must have started anew.
    @_noLocks @inline(__always)
    func isForeign(_ offset: Double, at now: Double) -> Bool {
        guard hasBegun else { return false }
        let distance = offset + carry(to: now) - least
        return distance > Self.foreignDistance || distance < 0 - Self.foreignDistance
    }

    /// Forgets the delays and the line of the drift; the rate and the forecast stay.
    @_noLocks
    mutating func reset() {
        forget()
        estimator.restart()
        lastArrival = -Double.infinity
        hasBegun = false
        isAnew = true
    }

    /// Forgets the delays, which were of a link that was full; the next packet is the new beginning.
    @_noLocks
    mutating func forgetDelays() { forget() }

    /// Seconds between offsets that no network explains: the sender has restarted.
    private static var foreignDistance: Double { @_noLocks get { 2 } }
    /// Seconds by which a changed drift may shift a window's levels before the window is removed.
    private static var largestTurn: Double { @_noLocks get { 0.000_5 } }
    /// Share of a packet's duration within which packets arrived together.
    private static var togetherShare: Double { @_noLocks get { 0.25 } }
    /// Seconds in which every packet counts, as too little is known to tell what is usual.
    private static var beginning: Double { @_noLocks get { 3 } }
    /// Seconds without a packet below the bound after which the network's path must have changed.
    private static var pathTimeout: Double { @_noLocks get { 0.5 } }

    @_noLocks @inline(__always)
    private func carry(to now: Double) -> Double { carried + drift * (now - carriedAt) }

    /// Follows a drift that is found to be another: levels learned before lie off by it, the more the older they are.
    @_noLocks
    private mutating func turn(by change: Double, at now: Double) {
        carried += (drift - change) * (now - carriedAt)
        carriedAt = now
        for age in 0..<windows.count {
            let window = windows[age]
            let shift = change * (now - window.pointee.start)
            window.pointee.least -= shift
            window.pointee.most -= shift
            window.pointee.turned += shift
        }
        while windows.count > 1,
            windows.oldest.pointee.turned > Self.largestTurn || windows.oldest.pointee.turned < 0 - Self.largestTurn
        {
            removeOldest()
        }
        isStale = true
    }

    /// Returns true when every packet for more than 0.5 s exceeded the bound: the minimum delay belongs to an older path.
    @_noLocks
    private mutating func hasPathChanged(_ level: Double, at now: Double) -> Bool {
        guard level > least + bound else {
            beyondSince = .infinity
            return false
        }
        beyondSince = min(beyondSince, now)
        return now - beyondSince > Self.pathTimeout
    }

    /// Returns true if a packet arrived at once with the first since the last new beginning, though it is of later sound: a link
    /// delivers together all that it held up for so long that it looked like one, and only the last tells how long the path is.
    @_noLocks @inline(__always)
    private func isBacklog(_ level: Double, at now: Double, _ duration: Double) -> Bool {
        isAnew && now - knownSince < Self.togetherShare * duration && level < least - 0.5 * duration
    }

    @_noLocks
    private mutating func begin(at level: Double, _ now: Double) {
        forget()
        hasBegun = true
        knownSince = now
        zero = level
        least = level
        target = level
        latest = level
        beginWindow(at: now)
    }

    @_noLocks
    private mutating func forget() {
        while windows.count > 0 { removeOldest() }
        openStall = cleared(openStall)
        fault = cleared(fault)
        beyondSince = .infinity
    }
}
