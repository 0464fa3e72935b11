// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A path from one peer to another on virtual time. It determines the arrival of each datagram, from a seed.
package struct SimulatedLink {
    /// The traffic of this path.
    package struct Counts: Hashable, Sendable {
        /// The datagrams of sound: sent, lost, lost because the queue was full, and duplicated.
        package var media = 0
        package var lostMedia = 0
        package var overflowedMedia = 0
        package var duplicatedMedia = 0
        /// The bytes of the datagrams of sound, and of all datagrams, without the headers of UDP and IP.
        package var mediaBytes = 0
        /// The part of `mediaBytes` that send times take.
        package var sendTimeBytes = 0
        package var bytes = 0
        /// The bytes of the largest datagram.
        package var largestDatagram = 0
    }

    /// The arrival times of a datagram and of its duplicate in nanoseconds of the call; nil if it does not arrive.
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
    package internal(set) var counts = Counts()

    private var quantiles: DelayQuantiles
    private var queue: LinkQueue
    private var random: SeededRandom
    private var chain: LossChain
    private var latestOrderedArrival: Int64 = 0  // nanoseconds of the call; of datagrams that keep their order
    private var traceLine = 0  // index of the next line of the trace
    private var lastTracedDelay: Float = 0  // milliseconds

    package init(_ profile: NetworkProfile, seed: UInt64) {
        self.profile = profile
        quantiles = DelayQuantiles(profile.delay)
        queue = LinkQueue(profile.capacity, events: profile.events)
        random = SeededRandom(seed: seed)
        chain = LossChain(seed: random.next())
    }

    /// Returns a copy of this path with other random numbers, for two other peers.
    package func reseeded(_ seed: UInt64) -> SimulatedLink {
        var other = self
        other.random = SeededRandom(seed: seed)
        other.chain = LossChain(seed: other.random.next())
        return other
    }

    /// Sends a datagram and returns its arrival times.
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
        // Always draw four random numbers, so that a change of one impairment does not change the others.
        let draws = (random.unit(), random.unit(), random.unit(), random.unit())
        let elapsed = Double(now) * 1e-9
        guard let departureTime = queue.departure(byteCount: byteCount + LinkCapacity.headerBytes, at: elapsed) else {
            if isMedia {
                counts.lostMedia += 1
                counts.overflowedMedia += 1
            }
            return Fate()
        }
        let departure = queue.isUnlimited ? now : Int64(departureTime * 1e9)
        if profile.trace != nil { return followTrace(isMedia, departure, isOut: isOut(elapsed)) }
        // A datagram advances the state of the losses even if an outage loses it.
        let isLost = chain.loses(profile.loss, draw: draws.0, at: elapsed)
        if isLost || isOut(elapsed) {
            if isMedia { counts.lostMedia += 1 }
            return Fate()
        }
        return arrival(isMedia, timeAfterStalls(departure), delay: draws.1, order: draws.2, copy: draws.3)
    }

    private mutating func arrival(
        _ isMedia: Bool, _ departure: Int64, delay: Double, order: Double, copy: Double
    ) -> Fate {
        var arrivalTime = departure + Int64(quantiles.value(at: delay) * 1e9)
        if order < profile.reordering {
            arrivalTime += Int64(profile.reorderingDelay * 1e9)
        } else {
            arrivalTime = max(arrivalTime, latestOrderedArrival + 1)
            latestOrderedArrival = arrivalTime
        }
        guard copy < profile.duplication else { return Fate(arrival: arrivalTime) }
        if isMedia { counts.duplicatedMedia += 1 }
        return Fate(arrival: arrivalTime, copy: arrivalTime + 300_000)
    }

    private mutating func followTrace(_ isMedia: Bool, _ departure: Int64, isOut: Bool) -> Fate {
        guard let delays = profile.trace?.delays else { return Fate() }
        var delay = lastTracedDelay
        if isMedia {
            delay = delays[traceLine]
            traceLine = traceLine + 1 == delays.count ? 0 : traceLine + 1
            if delay >= 0 { lastTracedDelay = delay }
        }
        if delay < 0 || isOut {
            if isMedia { counts.lostMedia += 1 }
            return Fate()
        }
        return Fate(arrival: timeAfterStalls(departure) + Int64(Double(delay) * 1e6))
    }

    private func isOut(_ elapsed: Double) -> Bool {
        for case .outage(let range) in profile.events where range.contains(elapsed) { return true }
        return false
    }

    /// Returns the time at which a datagram that has passed the queue goes on: at once, or at the end of a stall.
    private func timeAfterStalls(_ departure: Int64) -> Int64 {
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
        var difference = a
        difference.media -= b.media
        difference.lostMedia -= b.lostMedia
        difference.overflowedMedia -= b.overflowedMedia
        difference.duplicatedMedia -= b.duplicatedMedia
        difference.mediaBytes -= b.mediaBytes
        difference.sendTimeBytes -= b.sendTimeBytes
        difference.bytes -= b.bytes
        return difference
    }

    package static func + (a: Self, b: Self) -> Self {
        var sum = a
        sum.media += b.media
        sum.lostMedia += b.lostMedia
        sum.overflowedMedia += b.overflowedMedia
        sum.duplicatedMedia += b.duplicatedMedia
        sum.mediaBytes += b.mediaBytes
        sum.sendTimeBytes += b.sendTimeBytes
        sum.bytes += b.bytes
        sum.largestDatagram = max(a.largestDatagram, b.largestDatagram)
        return sum
    }
}
