import AudioBase
import AudioDevices
import CRealtime
import MediaTransport
import Playout
import TestSupport

@testable import Call

/// A call of several on virtual time, in one thread, from a seed: each sends to each. End `n` is the others' peer `n`.
struct RoomRig {
    struct Setup {
        var codec = Codec.pcm
        var count = 3
        var block = 128
        /// Parts in a million, of each end's card.
        var drifts: [Double] = []
        var seed: UInt64 = 1
        var says: (_ end: Int, _ frame: Int) -> Float
    }

    let ends: [CallEnd]
    /// Who is in the call.
    private(set) var isIn: [Bool]
    /// By sender and receiver.
    var networks: [[SimulatedNetwork]]
    private(set) var elapsed = 0.0
    private let origin = HostTime(nanoseconds: 5_000_000_000)
    let configuration: CallConfiguration
    private var random: SeededRandom

    /// Nobody is in the call; see ``enter(_:)``.
    init(_ setup: Setup) throws {
        var random = SeededRandom(seed: setup.seed)
        let call = CallRig.Setup(codec: setup.codec, opusFrameMilliseconds: 5, blocks: (setup.block, setup.block))
        let configuration = try CallRig.negotiate(call).host
        self.configuration = configuration
        networks = (0..<setup.count).map { _ in
            (0..<setup.count).map { _ in SimulatedNetwork(seed: random.next()) }
        }
        ends = try (0..<setup.count).map { end in
            try CallEnd(
                configuration, driftPPM: setup.drifts.isEmpty ? 0 : setup.drifts[end], session: nil, keepsFrom: 0,
                longestSkip: 0, says: { frame, _ in setup.says(end, frame) })
        }
        isIn = Array(repeating: false, count: setup.count)
        for end in ends { end.card.renderer.start(at: origin.advanced(bySeconds: 0.003 * random.unit())) }
        self.random = random
    }

    private var now: HostTime { origin.advanced(bySeconds: elapsed) }

    /// Brings an end into the call, with all that are in it.
    mutating func enter(_ end: Int) throws {
        for other in ends.indices where isIn[other] {
            try ends[end].add(PeerID(other), session: CallRig.session(configuration, &random))
            try ends[other].add(PeerID(end), session: CallRig.session(configuration, &random))
        }
        isIn[end] = true
    }

    /// Takes an end out of the call; the others are told, and let go of it.
    mutating func leave(_ end: Int) throws {
        let at = now
        isIn[end] = false
        for other in ends.indices where isIn[other] {
            ends[end].remove(PeerID(other), at: at) { [elapsed] datagram, _ in
                networks[end][other].send(datagram, to: 0, at: at, elapsed: elapsed)
            }
            ends[other].remove(PeerID(end), at: at) { _, _ in }
        }
    }

    /// Two ends agree anew: in what form sound goes, and whether it goes from the first to the second, and back.
    mutating func renegotiate(
        _ a: Int, _ b: Int, _ configuration: CallConfiguration? = nil,
        direction: SessionDescription.Direction = .sendReceive
    ) throws {
        for (end, other, direction) in [(a, b, direction), (b, a, direction.mirrored)] {
            if direction == .inactive {
                ends[end].rest(PeerID(other))
            } else {
                let session = CallRig.session(configuration ?? self.configuration, &random)
                try ends[end].add(PeerID(other), session: session, configuration, direction: direction)
            }
        }
    }

    mutating func run(until seconds: Double) throws {
        while true {
            var next = ends.map(\.nextCallTime).min() ?? origin
            for arrival in networks.joined().compactMap(\.nextArrival) { next = min(next, arrival) }
            for end in ends { if let due = end.core.nextDeadline, due > now { next = min(next, due) } }
            let then = next.seconds(since: origin)
            if then > seconds { break }
            elapsed = max(elapsed, then)
            for from in ends.indices {
                for to in ends.indices {
                    while let arrival = networks[from][to].nextArrival, arrival <= next,
                        let (_, bytes) = networks[from][to].deliver()
                    {
                        ends[to].receive(bytes, from: PeerID(from))
                    }
                }
            }
            for end in ends.indices {
                if ends[end].nextCallTime <= next { ends[end].runCycle(at: next, elapsed: elapsed) }
                try ends[end].runMedia(at: next, elapsed: elapsed) { [elapsed] datagram, peer in
                    networks[end][peer.rawValue].send(datagram, to: 0, at: next, elapsed: elapsed)
                }
            }
        }
    }
}

/// How loud a tone is among others, at 48 kHz.
func amplitude(_ samples: ArraySlice<Float>, frequency: Double) -> Double {
    var (a, b) = (0.0, 0.0)
    for (n, x) in samples.enumerated() {
        let angle = 2 * Double.pi * frequency / 48_000 * Double(n)
        a += Double(x) * earshot_cos(angle)
        b += Double(x) * earshot_sin(angle)
    }
    return 2 * (a * a + b * b).squareRoot() / Double(max(1, samples.count))
}
