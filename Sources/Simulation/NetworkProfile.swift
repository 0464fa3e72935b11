// SPDX-License-Identifier: Apache-2.0

/// The effect of a network on datagrams in one direction between two peers. docs/simulation.md defines it.
///
/// Each path has its own random generator, so that paths are independent. A datagram first passes a queue (``LinkCapacity``).
/// Then it may be lost, may wait for the end of a stall, and gets its delay.
package struct NetworkProfile: Hashable, Sendable {
    /// The distribution of each datagram's delay. Datagrams that are not reordered arrive in the order of sending.
    package var delay: DelayDistribution
    /// The process by which datagrams are lost.
    package var loss: LossProcess
    /// The share of datagrams, 0 to 1, that arrive twice, the second time 0.3 ms after the first.
    package var duplication = 0.0
    /// The share of packets, 0 to 1, that take ``reorderingDelay`` seconds more without delaying later ones.
    package var reordering: Double
    /// The additional seconds of a reordered packet.
    package var reorderingDelay: Double
    /// Stalls at regular intervals; nil for none.
    package var stalls: RepeatedStall?
    /// The outages, stalls and changes of the capacity, in any order.
    package var events: [NetworkEvent] = []
    /// The capacity of the narrowest link.
    package var capacity = LinkCapacity()
    /// The recorded delay or loss of each packet of sound, used instead of ``delay``, ``loss``, ``duplication`` and
    /// ``reordering``; nil for none.
    package var trace: NetworkTrace?

    /// Creates a profile; by default without losses.
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

/// Stalls at regular intervals: the network carries nothing during a stall, and datagrams sent meanwhile leave at its end.
package struct RepeatedStall: Hashable, Sendable {
    /// The seconds from one stall to the next, and from the start to the first one.
    package var period: Double
    /// The seconds of a stall, less than the period.
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
    /// All datagrams sent in this period are lost.
    case outage(Range<Double>)
    /// The link holds all datagrams in this period, and sends them at its end.
    case stall(Range<Double>)
    /// From `at` on the link carries these bits a second; nil for no limit.
    case capacity(bitsPerSecond: Double?, at: Double)
}

/// The losses of a network.
package enum LossProcess: Hashable, Sendable {
    /// No losses.
    case none
    /// Independent losses with this probability.
    case independent(Double)
    /// Bursts, by a two-state chain that advances with each datagram (Gilbert 1960, Elliott 1963): in its bad state all are lost.
    /// A bad state lasts `packets` datagrams on average, at least 1, and the share of lost ones is `share`, below 1.
    case bursts(share: Double, packets: Double)
    /// Bursts in time: everything is lost for `seconds`. The times between bursts are exponentially distributed, so that the
    /// bursts take the share `share` of the time, below 1.
    case blackouts(share: Double, seconds: Double)
}

/// The capacity of the narrowest link: a queue that drains at a rate and drops datagrams when it is full.
package struct LinkCapacity: Hashable, Sendable {
    /// The bits a second; nil for no limit. The 28 bytes of each datagram's IPv4 and UDP headers count.
    package var bitsPerSecond: Double?
    /// The maximum bytes that wait in the queue; nil for 0.2 s at the link's rate, at least 3,000.
    package var queueBytes: Int?

    /// Creates a capacity; by default without a limit.
    package init(bitsPerSecond: Double? = nil, queueBytes: Int? = nil) {
        self.bitsPerSecond = bitsPerSecond
        self.queueBytes = queueBytes
    }

    /// The bytes of the headers of IPv4 and UDP.
    package static let headerBytes = 28
}
