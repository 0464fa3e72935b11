/// Learns how late packets come, and says which delay meets the dial.
///
/// A packet's *offset* is its arrival on the receiver's device clock less its end on the sender's timeline, in seconds.
/// A constant of it means nothing (the clocks have different origins), its slope is the drift between the devices, and
/// what is left is the network. Offsets carried along the drift are *levels*: those of packets that waited nowhere are
/// equal.
///
/// Levels are counted in a histogram of the last 6 to 60 s (``PlayoutDial/memory``), in sixteen windows of which the
/// oldest is taken out when the next begins; a spell of long delays that has been over for half of that is taken out at
/// once, where the dial is not safer than `talk`. The delay wanted is the smallest at which the share of later ones is what
/// the dial allows, and of a dial quicker than `talk` the knee above it (``PlayoutDial/worth``). What lies beyond the dial's
/// ceiling no delay that is allowed would save, so it is left out of the sum.
///
/// A run of packets beyond the delay is a *stall*, and one that is more than twice anything known is put aside: a
/// fault, and not a reason to be late from now on. Where the like comes again within 12 s, both are counted. Memory of
/// a fixed size, a small bounded work a packet; all but `init` is render-safe.
struct DelayTracker: ~Copyable {
    /// Where the share of late packets and the ceiling come from.
    private(set) var dial: PlayoutDial
    /// What each depth would have done here.
    private(set) var forecast = PlayoutForecast()
    private(set) var estimator = DriftEstimator()

    struct Window: BitwiseCopyable {
        var row = 0
        var start = 0.0
        var least = Double.infinity  // level
        var most = -Double.infinity
        var low = Int.max  // bins
        var high = Int.min
        var count = 0  // packets, with those put aside
        var groups = 0  // of packets that came at once
        var packetLength = 0.0  // seconds of the longest
        var turned = 0.0  // seconds by which the levels in it are off, as the drift was found to be another

        @_noLocks
        init(row: Int = 0) { self.row = row }

        var isEmpty: Bool { @_noLocks get { low > high } }
    }
    static var windowCount: Int { @_noLocks get { 16 } }
    /// The run of late packets that is going on, and the stall that was put aside; neither is in the sum.
    static var open: Int { @_noLocks get { 16 } }
    static var fault: Int { @_noLocks get { 17 } }

    let histogram = DelayHistogram(rowCount: 18)
    let windows: UnsafeMutablePointer<Window>  // memory of their own: to read one of an inline array copies them all
    var packetCount = 0  // of all windows
    var groupCount = 0
    var newest = 0
    var count = 0
    var zero = 0.0  // the level at which bin 0 begins
    var least = 0.0  // level
    var target = 0.0
    var latest = 0.0  // level of the latest that counts
    var isStale = true  // whether packets came since both were found
    var knownSince = 0.0
    private var carried = 0.0  // seconds from offsets to levels, at `carriedAt`
    private var carriedAt = 0.0
    private var lastArrival = -Double.infinity
    private var beyondSince = Double.infinity
    private var hasBegun = false
    private var isAnew = false  // whether there was another beginning before

    init(dial: PlayoutDial) {
        self.dial = dial
        windows = .allocate(capacity: 18)
        for i in 0..<18 { (windows + i).initialize(to: Window(row: i)) }
    }

    deinit { windows.deallocate() }

    /// Sender's clock against the receiver's: +10e-6 is a sender 10 ppm fast.
    var drift: Double { @_noLocks get { estimator.drift } }

    /// Another share of late packets and another ceiling, from the next packet on.
    @_noLocks
    mutating func set(_ dial: PlayoutDial) {
        self.dial = dial
        isStale = true
    }

    /// Takes the offset of one packet.
    /// - Parameters:
    ///   - now: its arrival on the receiver's device clock, in seconds.
    ///   - duration: seconds of sound in it.
    @_noLocks
    mutating func add(offset: Double, at now: Double, duration: Double) {
        let before = drift
        if estimator.add(offset: offset, at: now) { turn(by: drift - before, at: now) }
        let level = offset + carry(to: now)
        expire(at: now)
        if count == 0 || hasLeft(level, at: now) || isBacklog(level, at: now, duration) { begin(at: level, now) }
        if now - windows[newest].start >= dial.memory / Double(Self.windowCount) { beginWindow(at: now) }
        windows[newest].count &+= 1
        packetCount &+= 1
        if now - lastArrival > 0.25 * duration {
            windows[newest].groups &+= 1
            groupCount &+= 1
        }
        lastArrival = max(lastArrival, now)
        windows[newest].packetLength = max(windows[newest].packetLength, duration)
        forecast.add(delay: level - least, at: now)
        if level > target, now - knownSince > Self.beginning {
            if isStall(at: now) { return put(level, in: Self.open, at: now) }
        } else if !windows[Self.open].isEmpty {
            judge()
        }
        put(level, in: newest, at: now)
    }

    /// The smallest offset, and the one that the delay must reach, of a packet that comes at `now`.
    @_noLocks
    mutating func range(at now: Double) -> (least: Double, wanted: Double) {
        if isStale { update() }
        let carry = carry(to: now)
        return (least - carry, target - carry)
    }

    /// Seconds of the longest packet of late: by so much its first frame is older than its offset says.
    var packetLength: Double {
        @_noLocks get {
            let before = (newest &+ Self.windowCount &- 1) % Self.windowCount
            return max(windows[newest].packetLength, count > 1 ? windows[before].packetLength : 0)
        }
    }

    /// Seconds by which the latest packet of those that count is later than what is wanted.
    var tail: Double { @_noLocks get { max(0, latest - target) } }

    /// Seconds since the oldest packet that is known of.
    @_noLocks
    func age(at now: Double) -> Double { count == 0 ? 0 : now - knownSince }

    /// Whether an offset is so far from all known ones that the sender must have started anew.
    @_noLocks
    func isForeign(_ offset: Double, at now: Double) -> Bool {
        guard hasBegun else { return false }
        let distance = offset + carry(to: now) - least
        return distance > 2 || distance < -2
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

    /// Forgets the delays, which were of a link that was full; what comes next is the new beginning.
    @_noLocks
    mutating func forgetDelays() { forget() }

    /// Seconds in which everything counts, as too little is known to tell what is usual.
    private static var beginning: Double { @_noLocks get { 3 } }
    /// Seconds without a packet below the ceiling after which the network's way must be another.
    private static var patience: Double { @_noLocks get { 0.5 } }

    @_noLocks
    private func carry(to now: Double) -> Double { carried + drift * (now - carriedAt) }

    /// Follows a drift that is found to be another: what was learnt before lies off by it, the more the older it is.
    @_noLocks
    private mutating func turn(by change: Double, at now: Double) {
        carried += (drift - change) * (now - carriedAt)
        carriedAt = now
        for i in 0..<Self.windowCount {
            let shift = change * (now - windows[i].start)
            windows[i].least -= shift
            windows[i].most -= shift
            windows[i].turned += shift
        }
        while count > 1, windows[oldest].turned > 0.0005 || windows[oldest].turned < -0.0005 { removeOldest() }
        isStale = true
    }

    /// Whether all has come too late for the ceiling for so long that the least that is known is of another way.
    @_noLocks
    private mutating func hasLeft(_ level: Double, at now: Double) -> Bool {
        guard level > least + bound else {
            beyondSince = .infinity
            return false
        }
        beyondSince = min(beyondSince, now)
        return now - beyondSince > Self.patience
    }

    /// Whether a packet came at once with the first since the last new beginning, though it was said later: what a link held up so
    /// long that it looked like one is let go of all together, and the last of it alone tells how long the way is.
    @_noLocks
    private func isBacklog(_ level: Double, at now: Double, _ duration: Double) -> Bool {
        isAnew && now - knownSince < 0.25 * duration && level < least - 0.5 * duration
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
        while count > 0 { removeOldest() }
        empty(Self.open)
        empty(Self.fault)
        beyondSince = .infinity
    }
}
