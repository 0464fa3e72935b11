import AudioBase
import AudioDevices
import Diagnostics
import MediaTransport
import Playout
import TestSupport

@testable import Call

/// A whole call on virtual time, in one thread, from a seed: two ends that agreed by SDP, and a network between them.
struct CallRig {
    /// How to set it up; what is not said is a mono call of 48 kHz cards on a clean line.
    struct Setup {
        var codec = Codec.pcm
        var channelCount = 1
        var opusFrameMilliseconds: Double?
        /// Hertz, frames and parts in a million of the host's card and of the guest's.
        var rates = (48_000.0, 48_000.0)
        var blocks = (256, 256)
        var drifts = (0.0, 0.0)
        var seed: UInt64 = 1
        /// Seconds of the call before which what is heard is not kept.
        var keepsFrom = 0.0
        /// Seconds that a card may skip.
        var longestSkip = 0.0
        var says: CallEnd.Sound = { frame, channel in sine(frame, frequency: channel == 0 ? 440 : 660, rate: 48_000) }
        /// The same for the guest; nil for what the host says.
        var guestSays: CallEnd.Sound?
        /// What the host's voice goes through, and the guest's.
        var voices: (VoiceMaker, VoiceMaker) = ({ _ in nil }, { _ in nil })
    }
    typealias VoiceMaker = (CallConfiguration) throws -> CallVoice?

    /// The host and the guest.
    let ends: [CallEnd]
    var network: SimulatedNetwork
    /// Seconds of the call, and what to do to the rig then.
    var events: [(at: Double, action: (inout CallRig) throws -> Void)] = []
    private(set) var elapsed = 0.0
    private let origin = HostTime(nanoseconds: 5_000_000_000)
    private var random: SeededRandom

    init(_ setup: Setup) throws {
        random = SeededRandom(seed: setup.seed)
        network = SimulatedNetwork(seed: random.next())
        let (host, guest) = try Self.negotiate(setup)
        ends = [
            try CallEnd(
                host, driftPPM: setup.drifts.0, session: Self.session(host, &random), keepsFrom: setup.keepsFrom,
                longestSkip: setup.longestSkip, voice: setup.voices.0(host), says: setup.says),
            try CallEnd(
                guest, driftPPM: setup.drifts.1, session: Self.session(guest, &random), keepsFrom: setup.keepsFrom,
                longestSkip: setup.longestSkip, voice: setup.voices.1(guest), says: setup.guestSays ?? setup.says),
        ]
        ends[0].card.renderer.start(at: origin)
        ends[1].card.renderer.start(at: origin.advanced(bySeconds: 0.0031 + 0.002 * random.unit()))
    }

    /// What `earshot host` and `earshot join` do, through the text of both descriptions.
    static func negotiate(_ setup: Setup) throws -> (host: CallConfiguration, guest: CallConfiguration) {
        func preferences(_ rate: Double, _ block: Int) -> CallPreferences {
            CallPreferences(
                codec: setup.codec, channelCount: setup.channelCount,
                opusFrameMilliseconds: setup.opusFrameMilliseconds, deviceRate: rate, deviceBlock: block)
        }
        return try negotiate(
            host: preferences(setup.rates.0, setup.blocks.0), guest: preferences(setup.rates.1, setup.blocks.1))
    }

    static func negotiate(
        host: CallPreferences, guest: CallPreferences
    ) throws -> (host: CallConfiguration, guest: CallConfiguration) {
        let sent = try guest.offer(address: .loopback, port: 40_001, sessionID: 1)
        let offer = try SessionDescription(parsing: sent.description)
        let reply = try host.answer(to: offer, address: .loopback, port: 40_002, sessionID: 2)
        let answer = try SessionDescription(parsing: reply.description)
        let chosen = try sent.format(chosenBy: answer)
        guard let mine = reply.formats.first,
            let offered = offer.formats.first(where: { $0.payloadType == mine.payloadType }),
            let own = sent.formats.first(where: { $0.payloadType == chosen.payloadType })
        else { throw NegotiationError.noAudio }
        return (
            try host.configuration(mine: mine, remote: offer, format: offered),
            try guest.configuration(mine: own, remote: answer, format: chosen)
        )
    }

    static func session(_ configuration: CallConfiguration, _ random: inout SeededRandom) -> RTPSession {
        RTPSession(
            ssrc: UInt32(truncatingIfNeeded: random.next() | 1), cname: "end", payloadType: configuration.payloadType,
            clockRate: Int(configuration.streamRate), firstSequenceNumber: UInt16(truncatingIfNeeded: random.next()),
            firstTimestamp: UInt32(truncatingIfNeeded: random.next()))
    }

    /// One end's program began anew.
    mutating func restart(_ end: Int) throws {
        try ends[end].restart(session: Self.session(ends[end].configuration, &random))
    }

    /// Lets the call go on until `seconds` have passed since it began.
    mutating func run(until seconds: Double) throws {
        while true {
            let cycles = ends.map(\.nextCallTime)
            var next = min(cycles[0], cycles[1])
            if let arrival = network.nextArrival { next = min(next, arrival) }
            for end in ends { if let due = end.core.nextDeadline, due > now { next = min(next, due) } }
            let then = next.seconds(since: origin)
            if then > seconds { break }
            elapsed = max(elapsed, then)
            if let event = events.first, event.at <= elapsed {
                events.removeFirst()
                try event.action(&self)
            }
            while let arrival = network.nextArrival, arrival <= next, let (to, bytes) = network.deliver() {
                ends[to].receive(bytes)
            }
            for end in 0..<2 {
                if cycles[end] <= next { ends[end].runCycle(at: next, elapsed: elapsed) }
                try ends[end].runMedia(at: next, elapsed: elapsed) { [elapsed] datagram, _ in
                    network.send(datagram, to: 1 - end, at: next, elapsed: elapsed)
                }
            }
        }
    }

    /// Says goodbye from one end.
    mutating func leave(_ end: Int) {
        let at = now
        ends[end].leave(at: at) { [elapsed] datagram, _ in
            network.send(datagram, to: 1 - end, at: at, elapsed: elapsed)
        }
    }

    private var now: HostTime { origin.advanced(bySeconds: elapsed) }

    /// From the converter of one end to that of the other, in milliseconds, by correlation of a part of the call.
    func mouthToEar(from: Int, _ seconds: Range<Double>) throws -> DelayMeasurement {
        let spoken = ends[from].spoken(seconds)
        let heard = ends[1 - from].heard(seconds.lowerBound..<(seconds.upperBound + 0.3))
        var options = DelayMeasurement.Options()
        options.searchRange = 0...1
        return try DelayMeasurement(
            sent: TimedSignal(
                samples: spoken.samples, sampleRate: ends[from].card.configuration.trueSampleRate,
                firstFrameTime: spoken.from),
            heard: TimedSignal(
                samples: heard.samples, sampleRate: ends[1 - from].card.configuration.trueSampleRate,
                firstFrameTime: heard.from), options: options)
    }
}

/// Something as uneven as speech: noise below about 4 kHz at 48 kHz, louder and softer each 40 ms. Frame `n` is the same
/// whenever asked, and another `voice` says something else.
func murmur(_ n: Int, voice: UInt64 = 0) -> Float {
    func random(_ k: Int, _ salt: UInt64) -> Float {
        var random = SeededRandom(seed: (UInt64(bitPattern: Int64(k)) &+ (salt + voice) << 40) &* 0x2545_F491_4F6C_DD1D)
        return Float(random.unit())
    }
    func line(_ length: Int, _ salt: UInt64) -> Float {
        let k = n / length
        let share = Float(n % length) / Float(length)
        return random(k, salt) * (1 - share) + random(k + 1, salt) * share
    }
    let loudness = line(1_920, 1)
    return 0.6 * loudness * loudness * (2 * line(6, 2) - 1)
}
