// SPDX-License-Identifier: Apache-2.0

/// Learns how late packets arrive, and the delay that the latency profile requires.
///
/// A packet's *offset* is its arrival on the receiver's device clock minus its end on the sender's timeline, in seconds. Its
/// constant part means nothing (the clocks have different origins), its slope is the drift between the devices, and the remainder
/// is the network. Offsets with the drift removed are *levels*: packets that waited nowhere have equal ones.
///
/// Levels are counted in a histogram of the last 6 to 60 s (``LatencyProfile/memory``), in sixteen windows of which the oldest is
/// removed when the next begins. A spell of long delays that ended half of that time ago is removed at once, unless the profile
/// is safer than `talk`. The wanted delay is the smallest with the profile's share of later packets; for a profile faster than
/// `talk` the knee above it (``LatencyProfile/delayPerSavedPacket``). Packets beyond the profile's ceiling, which no allowed
/// delay would save, are left out.
///
/// A run of packets beyond the delay is a *stall*. One that is more than twice as late as anything known is a fault, which does
/// not lengthen the delay; if a similar one follows within 12 s, both count. The tracker's memory is fixed, and its work for a
/// packet bounded; everything except `init` is safe on the render thread. Functions that read a few values are inlined: a call
/// would copy the whole tracker.
struct DelayTracker: ~Copyable {
    /// The profile, with the allowed share of late packets and the ceiling of the delay.
    private(set) var latencyProfile: LatencyProfile
    /// The forecast of the glitches at each depth of the jitter buffer.
    private(set) var forecast = PlayoutForecast()
    private(set) var estimator = DriftEstimator()

    let histogram = DelayHistogram(rowCount: DelayWindows.capacity + 2)
    var windows = DelayWindows()
    /// The current run of late packets, which are not in the histogram's sums.
    var openStall = DelayWindow(row: DelayWindows.capacity)
    /// The stall that was stored as a fault, whose packets are not in the histogram's sums.
    var fault = DelayWindow(row: DelayWindows.capacity + 1)
    var packetCount = 0  // of all windows
    var groupCount = 0  // groups of packets that arrived together, in all windows
    var zero = 0.0  // the level at which bin 0 begins
    var least = 0.0  // the least level in the windows
    var target = 0.0  // the level that the delay must reach
    var latest = 0.0  // the level of the latest packet that counts
    var isStale = true  // packets came since `least` and `target` were found
    var knownSince = 0.0  // the arrival of the first known packet
    private var carried = 0.0  // levels minus offsets in seconds, at the time `carriedAt`
    private var carriedAt = 0.0
    private var shifted = 0.0  // seconds by which all offsets are longer since packets of another form began
    private var lastArrival = -Double.infinity
    private var beyondSince = Double.infinity  // since when all packets exceed the bound
    private var hasBegun = false
    private var hasRestarted = false  // an earlier stream has ended

    init(latencyProfile: LatencyProfile) { self.latencyProfile = latencyProfile }

    /// The sender's clock relative to the receiver's: +10e-6 is a sender 10 ppm fast.
    var drift: Double { @_noLocks @inline(__always) get { estimator.drift } }

    /// Changes the share of late packets, the ceiling and the memory, from the next ``range(at:)`` on.
    @_noLocks
    mutating func set(_ profile: LatencyProfile) {
        latencyProfile = profile
        isStale = true
    }

    /// Learns the offset of a packet.
    /// - Parameters:
    ///   - now: the packet's arrival on the receiver's device clock, in seconds.
    ///   - duration: the seconds of sound in the packet.
    @_noLocks
    mutating func add(offset: Double, at now: Double, duration: Double) {
        let before = drift
        if estimator.add(offset: offset - shifted, at: now) { turn(by: drift - before, at: now) }
        let level = offset + carry(to: now)
        expire(at: now)
        if windows.count == 0 || hasPathChanged(level, at: now) || isBacklog(level, at: now, duration) {
            begin(at: level, now)
        }
        if now - windows.newest.pointee.start >= latencyProfile.memory / Double(DelayWindows.capacity) {
            beginWindow(at: now)
        }
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

    /// Lengthens all known delays for packets of another form, whose encoder has a longer look-ahead.
    /// - Parameters:
    ///   - offset: the offset of the first such packet in seconds.
    ///   - most: the maximum growth in seconds.
    ///   - spread: the minimum seconds by which the delays of the new packets will vary.
    @_noLocks
    mutating func shift(offset: Double, at now: Double, most: Double, spread: Double) {
        guard windows.count > 0 else { return }
        if isStale { update() }
        let growth = max(0, min(most, offset + carry(to: now) - least)) + spread
        carried -= growth
        shifted += growth
    }

    /// Returns the smallest offset, and the one that the delay must reach, of a packet that arrives at `now`.
    @_noLocks
    mutating func range(at now: Double) -> (least: Double, wanted: Double) {
        if isStale { update() }
        let carry = carry(to: now)
        return (least - carry, target - carry)
    }

    /// The seconds of sound in the longest recent packet. Offsets refer to a packet's end; its first frame is older by its
    /// length.
    var packetLength: Double {
        @_noLocks @inline(__always) get {
            max(windows.newest.pointee.packetLength, windows.count > 1 ? windows[1].pointee.packetLength : 0)
        }
    }

    /// The seconds by which the latest counted packet exceeds the wanted delay.
    var tail: Double { @_noLocks @inline(__always) get { max(0, latest - target) } }

    /// Returns the age of the oldest known packet in seconds.
    @_noLocks @inline(__always)
    func age(at now: Double) -> Double { windows.count == 0 ? 0 : now - knownSince }

    /// Returns true if an offset is so far from all known ones that the sender must have restarted.
    @_noLocks @inline(__always)
    func isForeign(_ offset: Double, at now: Double) -> Bool {
        guard hasBegun else { return false }
        let distance = offset + carry(to: now) - least
        return distance > Self.foreignDistance || distance < 0 - Self.foreignDistance
    }

    /// Forgets the delays and the points from which the drift is learned; the drift and the forecast stay.
    @_noLocks
    mutating func reset() {
        forget()
        estimator.restart()
        lastArrival = -Double.infinity
        hasBegun = false
        hasRestarted = true
    }

    /// Forgets the delays, which were those of a link that was too slow; the next packet is a new beginning.
    @_noLocks
    mutating func forgetDelays() { forget() }

    /// The maximum seconds between two offsets that a network explains; beyond that the sender has restarted.
    private static var foreignDistance: Double { @_noLocks get { 2 } }
    /// The seconds by which a changed drift may shift a window's levels before the window is removed.
    private static var largestTurn: Double { @_noLocks get { 0.000_5 } }
    /// The share of a packet's duration within which packets count as arriving together.
    private static var togetherShare: Double { @_noLocks get { 0.25 } }
    /// The seconds after a beginning in which packets of a stall count too, as too little is known.
    private static var beginning: Double { @_noLocks get { 3 } }
    /// The seconds without a packet below the bound after which the network's path must have changed.
    private static var pathTimeout: Double { @_noLocks get { 0.5 } }

    @_noLocks @inline(__always)
    private func carry(to now: Double) -> Double { carried + drift * (now - carriedAt) }

    /// Applies a change of the drift: earlier levels are shifted by it, the more the older they are.
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

    /// Returns true if a packet of later sound arrived together with the first one since the last new beginning: a link delivers
    /// everything that it held up at once, and only the last packet shows the path's delay.
    @_noLocks @inline(__always)
    private func isBacklog(_ level: Double, at now: Double, _ duration: Double) -> Bool {
        hasRestarted && now - knownSince < Self.togetherShare * duration && level < least - 0.5 * duration
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
