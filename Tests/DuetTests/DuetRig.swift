// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

@testable import EarshotClockSync
@testable import EarshotDuet

/// A room whose members sing a duet, on virtual time: clocks that differ by up to 50 ppm, and messages that are late or lost. A
/// member's key is its index.
struct DuetRig {
    /// A machine's clock.
    struct Clock {
        var start: Int64
        var ppm: Double

        /// The nanoseconds for which the clock has stood still.
        var slept: Int64 = 0

        func time(at now: Int64) -> HostTime {
            HostTime(nanoseconds: start + now - slept).advanced(bySeconds: Double(now) * 1e-15 * ppm)
        }
    }

    struct Member {
        var core: DuetCore<Int>
        var clock: Clock
        var isIn = false
        /// The orders of the player, each with its true time in nanoseconds; nil for a pause.
        var orders: [(time: Int64, position: Double?)] = []
        var recordings: [UInt32] = []
        var finished: [UInt32] = []
        var actions: [DuetCore<Int>.Action] = []

        /// The song's position that is heard at a true time in nanoseconds; nil while there is none.
        func position(at time: Int64) -> Double? {
            guard let order = orders.last(where: { $0.time <= time }), let position = order.position else { return nil }
            let present = position + Double(time - order.time) * 1e-9
            return present < DuetRig.song.duration ? present : nil
        }
    }

    static let song = DuetSong(
        name: "Song.ogg", byteCount: 1_000, hash: String(repeating: "0a", count: 32), duration: 60)

    var members: [Member]
    var host = 0
    var lossRate = 0.1
    /// Returns false for members that do not reach each other.
    var reaches: (Int, Int) -> Bool = { _, _ in true }
    /// Nanoseconds.
    private(set) var now: Int64 = 0
    private var random: SeededRandom
    private var flying: [(at: Int64, from: Int, to: Int, bytes: [UInt8])] = []
    /// The seconds that a song's file needs.
    var transferTime = 0.4
    private var transfers: [(at: Int64, to: Int)] = []
    private var guideTransfers: [(at: Int64, to: Int)] = []
    private(set) var guideTransferCount = 0
    /// The seconds from a member's mouth to another's ear.
    var delay: (_ from: Int, _ to: Int) -> Double? = { _, _ in 0.01 }
    private(set) var transferCount = 0
    private(set) var largestMessage = 0
    /// The member whose machine sleeps.
    private var asleep: Int?

    init(_ count: Int, seed: UInt64) {
        var random = SeededRandom(seed: seed)
        members = (0..<count).map {
            Member(
                core: DuetCore(own: $0, singer: UInt64(100 + $0)),
                clock: Clock(start: Int64(random.unit() * 1e15), ppm: 100 * random.unit() - 50))
        }
        self.random = random
    }

    var present: [Int] { members.indices.filter { members[$0].isIn } }
    var seconds: Double { Double(now) * 1e-9 }

    func local(_ index: Int) -> HostTime { members[index].clock.time(at: now) }
    func status(_ index: Int) -> DuetStatus<Int> { members[index].core.status(at: local(index)) }
    func position(_ index: Int) -> Double? { members[index].position(at: now) }

    /// The seconds between the earliest and the latest position of the members; nil unless all are heard.
    var spread: Double? {
        let positions = present.compactMap { position($0) }
        guard let first = positions.min(), let last = positions.max(), positions.count == present.count else {
            return nil
        }
        return last - first
    }

    mutating func join(_ indices: Int...) {
        for index in indices { members[index].isIn = true }
        setMembers()
    }

    /// A member's program ends.
    mutating func leave(_ index: Int) {
        members[index].isIn = false
        members[index].orders = []
        flying.removeAll { $0.to == index }
        setMembers()
    }

    /// A member's program begins again without a memory.
    mutating func comeBack(_ index: Int) {
        members[index].core = DuetCore(own: index, singer: UInt64(100 + index))
        join(index)
    }

    /// A machine sleeps, while the others go on. Its player is silent, and its clock stands still.
    mutating func sleep(_ index: Int, seconds: Double) {
        members[index].orders = []
        asleep = index
        run(seconds)
        asleep = nil
        members[index].clock.slept += Int64(seconds * 1e9)
        members[index].core.slept()
    }

    private mutating func setMembers() {
        if !members[host].isIn { host = present.first ?? 0 }
        for index in present { members[index].core.setMembers(Set(present), host: host) }
    }

    /// The seconds by which positions may differ: clocks are known to 20 µs, and these players do not follow the group's time, so
    /// that clocks 100 ppm apart move them apart.
    var tolerance: Double {
        let first = present.compactMap { members[$0].orders.last?.time }.min() ?? now
        return 0.15e-3 + 110e-6 * Double(now - first) * 1e-9
    }

    /// The first members join, the host chooses the song, and all get it and agree.
    mutating func start(_ count: Int) throws {
        for index in 0..<count { join(index) }
        run(0.2)
        try members[0].core.choose(Self.song, at: local(0))
        run(3)
        for index in 0..<count { try members[index].core.agree() }
    }

    /// - Parameter check: is called every 10 ms.
    mutating func run(_ seconds: Double, _ check: (DuetRig) -> Void = { _ in }) {
        for _ in 0..<Int((seconds * 100).rounded()) {
            now += 10_000_000
            let arrived = flying.filter { $0.at <= now }
            flying.removeAll { $0.at <= now }
            for flight in arrived where members[flight.to].isIn && flight.to != asleep {
                members[flight.to].core.receive(flight.bytes, from: flight.from, at: local(flight.to))
            }
            for transfer in transfers where transfer.at <= now && members[transfer.to].isIn {
                members[transfer.to].core.setPresentSong(members[host].core.song?.hash)
                members[host].core.songTransferEnded(to: transfer.to, at: local(host))
            }
            transfers.removeAll { $0.at <= now }
            for transfer in guideTransfers where transfer.at <= now && members[transfer.to].isIn {
                members[transfer.to].core.setPresentGuide(members[host].core.song?.guide?.hash)
                members[host].core.guideTransferEnded(to: transfer.to, at: local(host))
            }
            guideTransfers.removeAll { $0.at <= now }
            for index in present where index != asleep && (now / 10_000_000 + Int64(index)) % 5 == 0 { tick(index) }
            check(self)
        }
    }

    private mutating func tick(_ index: Int) {
        for other in present where other != index && other != asleep && reaches(index, other) {
            members[index].core.setClock(estimate(of: other, at: index), of: other)
            members[index].core.setDelay(delay(other, index), of: other)
        }
        for action in members[index].core.tick(at: local(index)) {
            members[index].actions.append(action)
            switch action {
            case .send(let bytes): send(bytes, from: index)
            case .sendSong(let member):
                transferCount += 1
                transfers.append((now + Int64(transferTime * 1e9), member))
            case .sendGuide(let member):
                guideTransferCount += 1
                guideTransfers.append((now + Int64(transferTime * 10e9), member))
            case .play(let position, let time), .playMix(let position, let time): order(position, at: time, index)
            case .moveStart(let time): order(members[index].orders.last?.position, at: time, index)
            case .pause(let time): order(nil, at: time, index)
            case .record(let attempt): members[index].recordings.append(attempt)
            case .finishRecording(let attempt): members[index].finished.append(attempt)
            case .setSong, .awaitVoice: break
            }
        }
    }

    private mutating func order(_ position: Double?, at time: HostTime, _ index: Int) {
        let time = now + Int64(time.seconds(since: local(index)) / (1 + members[index].clock.ppm * 1e-6) * 1e9)
        members[index].orders.removeAll { $0.time >= time }
        members[index].orders.append((time, position))
    }

    private mutating func send(_ bytes: [UInt8], from index: Int) {
        largestMessage = max(largestMessage, bytes.count)
        for other in present where other != index && reaches(index, other) && random.unit() >= lossRate {
            flying.append((now + Int64(1e6 + random.unit() * 40e6), index, other, bytes))
        }
    }

    /// An estimate that is off by up to 20 µs and 0.3 ppm.
    private mutating func estimate(of other: Int, at index: Int) -> PeerClock {
        let peer = members[other].clock.time(at: now).advanced(bySeconds: 40e-6 * random.unit() - 20e-6)
        let rate = (members[other].clock.ppm - members[index].clock.ppm + 0.6 * random.unit() - 0.3) * 1e-6
        return PeerClock(
            localReference: local(index), peerReference: peer, rate: rate, rateError: 1e-6, error: 40e-6,
            roundTripError: 0.001)
    }
}
