// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A path between two peers on virtual time: determines the arrival of each datagram, from a seed.
package struct SimulatedLink {
    /// The traffic of this path.
    package struct Counts: Hashable, Sendable {
        /// The datagrams of sound; those lost, those lost because the queue was full, and those duplicated.
        package var media = 0
        package var lostMedia = 0
        package var overflowedMedia = 0
        package var duplicatedMedia = 0
        /// The bytes of these datagrams, and of all, without the headers of UDP and IP.
        package var mediaBytes = 0
        package var bytes = 0
        /// The bytes of the largest datagram.
        package var largestDatagram = 0
    }

    /// The arrival of a datagram in nanoseconds of the call; nil for never.
    struct Fate {
        var arrival: Int64?
        var copy: Int64?
    }

    /// The network of this path; a change applies to later datagrams.
    package var profile: NetworkProfile {
        didSet {
            if profile.delay != oldValue.delay { quantiles = DelayQuantiles(profile.delay) }
            if profile.capacity != oldValue.capacity || profile.events != oldValue.events {
                queue = LinkQueue(profile.capacity, events: profile.events)
            }
        }
    }
    package private(set) var counts = Counts()

    private var quantiles: DelayQuantiles
    private var queue: LinkQueue
    private var random: SeededRandom
    private var chain: LossChain
    private var newest: Int64 = 0  // arrival of those that keep their order
    private var line = 0  // of the trace: the next
    private var lastTraced: Float = 0  // milliseconds

    package init(_ profile: NetworkProfile, seed: UInt64) {
        self.profile = profile
        quantiles = DelayQuantiles(profile.delay)
        queue = LinkQueue(profile.capacity, events: profile.events)
        random = SeededRandom(seed: seed)
        chain = LossChain(seed: random.next())
    }

    /// Returns the same path between two other peers.
    package func reseeded(_ seed: UInt64) -> SimulatedLink {
        var other = self
        other.random = SeededRandom(seed: seed)
        other.chain = LossChain(seed: other.random.next())
        return other
    }

    /// Sends a datagram.
    /// - Parameters:
    ///   - isMedia: true for sound, false for a report.
    ///   - now: nanoseconds of the call; never less than before.
    mutating func send(byteCount: Int, isMedia: Bool, at now: Int64) -> Fate {
        counts.bytes += byteCount
        counts.largestDatagram = max(counts.largestDatagram, byteCount)
        if isMedia {
            counts.media += 1
            counts.mediaBytes += byteCount
        }
        // Always draw the same number of random numbers, so that impairments are independent.
        let draws = (random.unit(), random.unit(), random.unit(), random.unit())
        let elapsed = Double(now) * 1e-9
        guard let left = queue.departure(byteCount: byteCount + LinkCapacity.headerBytes, at: elapsed) else {
            if isMedia {
                counts.lostMedia += 1
                counts.overflowedMedia += 1
            }
            return Fate()
        }
        let departure = queue.isUnlimited ? now : Int64(left * 1e9)
        if profile.trace != nil { return followTrace(isMedia, departure, isOut: isOut(elapsed)) }
        // Every datagram advances the chain, lost by other causes or not.
        let isLost = chain.loses(profile.loss, draw: draws.0, at: elapsed)
        if isLost || isOut(elapsed) {
            if isMedia { counts.lostMedia += 1 }
            return Fate()
        }
        return arrival(isMedia, held(departure), delay: draws.1, order: draws.2, copy: draws.3)
    }

    private mutating func arrival(
        _ isMedia: Bool, _ departure: Int64, delay: Double, order: Double, copy: Double
    ) -> Fate {
        var at = departure + Int64(quantiles.value(at: delay) * 1e9)
        if order < profile.reordering {
            at += Int64(profile.reorderingDelay * 1e9)
        } else {
            at = max(at, newest + 1)
            newest = at
        }
        guard copy < profile.duplication else { return Fate(arrival: at) }
        if isMedia { counts.duplicatedMedia += 1 }
        return Fate(arrival: at, copy: at + 300_000)
    }

    private mutating func followTrace(_ isMedia: Bool, _ departure: Int64, isOut: Bool) -> Fate {
        guard let delays = profile.trace?.delays else { return Fate() }
        var delay = lastTraced
        if isMedia {
            delay = delays[line]
            line = line + 1 == delays.count ? 0 : line + 1
            if delay >= 0 { lastTraced = delay }
        }
        if delay < 0 || isOut {
            if isMedia { counts.lostMedia += 1 }
            return Fate()
        }
        return Fate(arrival: held(departure) + Int64(Double(delay) * 1e6))
    }

    private func isOut(_ elapsed: Double) -> Bool {
        for case .outage(let range) in profile.events where range.contains(elapsed) { return true }
        return false
    }

    /// Returns the time at which a datagram that left the queue continues.
    private func held(_ departure: Int64) -> Int64 {
        let elapsed = Double(departure) * 1e-9
        var until = elapsed
        for case .stall(let range) in profile.events where range.contains(elapsed) {
            until = max(until, range.upperBound)
        }
        if let stalls = profile.stalls, elapsed >= stalls.period {
            let since = elapsed.truncatingRemainder(dividingBy: stalls.period)
            if since < stalls.length { until = max(until, elapsed - since + stalls.length) }
        }
        return until == elapsed ? departure : Int64(until * 1e9)
    }
}

extension SimulatedLink.Counts {
    package static func - (a: Self, b: Self) -> Self {
        var left = a
        left.media -= b.media
        left.lostMedia -= b.lostMedia
        left.overflowedMedia -= b.overflowedMedia
        left.duplicatedMedia -= b.duplicatedMedia
        left.mediaBytes -= b.mediaBytes
        left.bytes -= b.bytes
        return left
    }

    package static func + (a: Self, b: Self) -> Self {
        var sum = a
        sum.media += b.media
        sum.lostMedia += b.lostMedia
        sum.overflowedMedia += b.overflowedMedia
        sum.duplicatedMedia += b.duplicatedMedia
        sum.mediaBytes += b.mediaBytes
        sum.bytes += b.bytes
        sum.largestDatagram = max(a.largestDatagram, b.largestDatagram)
        return sum
    }
}
