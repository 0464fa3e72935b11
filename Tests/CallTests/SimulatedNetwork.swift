import AudioBase
import TestSupport

/// The way between two ends on virtual time: what happens to each datagram comes from a seed.
struct SimulatedNetwork {
    /// Seconds each way, and what is added at random, uniformly.
    var delay = 0.001
    var jitter = 0.0
    /// Shares of the datagrams that are lost, come twice, or take 5 ms more and so are overtaken.
    var loss = 0.0
    var duplication = 0.0
    var reordering = 0.0
    /// Seconds of the call in which all is held, to come at the end, and in which all is lost.
    var stalls: [Range<Double>] = []
    var outages: [Range<Double>] = []

    /// What happened, media only (reports are impaired too).
    private(set) var lostMedia = 0
    private(set) var duplicatedMedia = 0
    private(set) var largestDatagram = 0
    /// Everything sent, one after the other: FNV-1a.
    private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325

    private struct Flight {
        var at: HostTime
        var to: Int
        var bytes: [UInt8]
    }
    private var random: SeededRandom
    private var flying: [Flight] = []  // the next to arrive is the last
    private var newest = [HostTime(nanoseconds: 0), HostTime(nanoseconds: 0)]

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// When the next datagram arrives.
    var nextArrival: HostTime? { flying.last?.at }

    /// The datagram that arrives next, and at which end.
    mutating func deliver() -> (to: Int, bytes: [UInt8])? { flying.popLast().map { ($0.to, $0.bytes) } }

    /// Takes a datagram.
    /// - Parameter elapsed: seconds of the call.
    mutating func send(_ datagram: UnsafeRawBufferPointer, to end: Int, at now: HostTime, elapsed: Double) {
        let isMedia = datagram.count > 1 && !(192...223).contains(datagram[1])
        largestDatagram = max(largestDatagram, datagram.count)
        for byte in datagram { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
        // Always as many draws, so that one impairment does not shift another's.
        let (lost, twice, late, extra) = (random.unit(), random.unit(), random.unit(), random.unit())
        if lost < loss || outages.contains(where: { $0.contains(elapsed) }) {
            if isMedia { lostMedia += 1 }
            return
        }
        let held = stalls.first { $0.contains(elapsed) }.map { $0.upperBound - elapsed } ?? 0
        var at = now.advanced(bySeconds: delay + jitter * extra + held)
        if late < reordering {
            at = at.advanced(bySeconds: 0.005)
        } else {
            at = max(at, HostTime(nanoseconds: newest[end].nanoseconds + 1))
            newest[end] = at
        }
        insert(Flight(at: at, to: end, bytes: Array(datagram)))
        if twice < duplication {
            if isMedia { duplicatedMedia += 1 }
            insert(Flight(at: at.advanced(bySeconds: 0.0003), to: end, bytes: Array(datagram)))
        }
    }

    private mutating func insert(_ flight: Flight) {
        var at = flying.count
        while at > 0, flying[at - 1].at <= flight.at { at -= 1 }
        flying.insert(flight, at: at)
    }
}
