// SPDX-License-Identifier: Apache-2.0

/// The effect of a network on the datagrams that go one way from one peer to another. docs/simulation.md defines all of it.
///
/// Each way has a generator of its own, so that what one loses says nothing of another. A datagram first leaves by a queue
/// (``LinkCapacity``), is then lost or not, held by a stall or not, and takes its delay.
package struct NetworkProfile: Hashable, Sendable {
    /// Seconds that a datagram takes, each drawn by itself. Unless reordered, none overtakes another.
    package var delay: DelayDistribution
    /// Which are lost.
    package var loss: LossProcess
    /// The share, 0 to 1, that come twice, the copy 0.3 ms after the first.
    package var duplication = 0.0
    /// The share of packets, 0 to 1, that take ``reorderingDelay`` seconds more without delaying later ones.
    package var reordering: Double
    /// Seconds by which what is reordered comes later.
    package var reorderingDelay: Double
    /// Times in which nothing moves, over and over.
    package var stalls: RepeatedStall?
    /// The events; in any order.
    package var events: [NetworkEvent] = []
    /// The capacity of the narrowest link.
    package var capacity = LinkCapacity()
    /// One delay or loss for each packet of sound, in the place of ``delay``, ``loss``, ``duplication`` and ``reordering``.
    package var trace: NetworkTrace?

    /// A way that loses nothing, unless said otherwise.
    package init(
        delay: DelayDistribution = .constant(0.001), loss: LossProcess = .none, reordering: Double = 0,
        reorderingDelay: Double = 0.005, stalls: RepeatedStall? = nil
    ) {
        self.delay = delay
        self.loss = loss
        self.reordering = reordering
        self.reorderingDelay = reorderingDelay
        self.stalls = stalls
    }
}

/// Times in which a network carries nothing; what is sent meanwhile leaves when they end.
package struct RepeatedStall: Hashable, Sendable {
    /// Seconds from the beginning of one to that of the next; the first begins so long after the call.
    package var period: Double
    /// Seconds that each lasts, less than the period.
    package var length: Double

    /// - Precondition: 0 < length < period.
    package init(period: Double, length: Double) {
        precondition(length > 0 && length < period)
        self.period = period
        self.length = length
    }
}

/// An event of a network at a time of the call, in seconds since it began.
package enum NetworkEvent: Hashable, Sendable {
    /// All is lost.
    case outage(Range<Double>)
    /// Datagrams stand still; those sent meanwhile leave at the end.
    case stall(Range<Double>)
    /// From `at` on the link carries so many bits a second; nil for any number.
    case capacity(bitsPerSecond: Double?, at: Double)
}

/// Which datagrams a network loses.
package enum LossProcess: Hashable, Sendable {
    /// No jitter.
    case none
    /// Each with this probability, whatever became of the one before.
    case independent(Double)
    /// Bursts, by a two-state chain that steps once a datagram (Gilbert 1960, Elliott 1963): in its bad state all are lost. A
    /// bad state lasts `packets` datagrams in the mean, 1 or more, and the share of all that are lost is `share`, below 1.
    case bursts(share: Double, packets: Double)
    /// Bursts in time: all is lost for `seconds`, and between such times lie times of exponential length, so long in the mean
    /// that the share of time in which all is lost is `share`, below 1.
    case blackouts(share: Double, seconds: Double)
}

/// The capacity of the narrowest link: a queue that is sent from at a rate, and drops datagrams that find it full.
package struct LinkCapacity: Hashable, Sendable {
    /// Bits a second; nil for any number. The 28 bytes of IPv4 and UDP headers of each datagram count.
    package var bitsPerSecond: Double?
    /// Bytes that wait at most; nil for what the link carries in 0.2 s, and 3,000 at least.
    package var queueBytes: Int?

    /// A link without a limit, unless one is given.
    package init(bitsPerSecond: Double? = nil, queueBytes: Int? = nil) {
        self.bitsPerSecond = bitsPerSecond
        self.queueBytes = queueBytes
    }

    /// Bytes that IPv4 and UDP add to a datagram.
    package static let headerBytes = 28
}
