// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall
@testable import EarshotSimulation

/// A faulty peer in a room: it is soon heard again, its faults are counted, and nobody else is affected.
@Suite(.optimized) struct WrongInputTests {
    /// Runs a room with a faulty second peer and one with a correct second peer, and compares everything that must be equal.
    private func run(
        _ codec: Codec, until seconds: Double, repair: RTPRepair = RTPRepair(),
        _ meddler: @escaping MeddledRoom.Meddler
    ) throws -> MeddledRoom {
        var room = try MeddledRoom(codec, repair: repair, meddler)
        var plain = try MeddledRoom(codec, repair: repair)
        try room.simulation.run(until: seconds)
        try plain.simulation.run(until: seconds)
        #expect(try room.playout(of: 2) == plain.playout(of: 2), "the third's voice")
        for end in [1, 2] {
            #expect(room.simulation.peers[end].heard == plain.simulation.peers[end].heard, "what \(end) hears")
        }
        #expect(room.simulation.peers[0].heard[0].allSatisfy { abs($0) <= 1 })
        return room
    }

    /// The longest delay in seconds while playout remembers widely varying delays, for 12 s: the maximum of the delay setting.
    private static let remembered = 0.082

    /// - Parameters:
    ///   - seconds: the time by which everything must have been normal for a while.
    ///   - most: the maximum delay of playout in seconds after that.
    private func expectRecovered(_ room: MeddledRoom, since seconds: Double, most: Double = 0.008) throws {
        let end = room.simulation.elapsed
        for other in [1, 2] {
            let level = room.level(of: other, at: 0, seconds..<end)
            #expect(abs(level - MeddledRoom.level) < 0.1 * MeddledRoom.level, "the tone of \(other): \(level)")
        }
        #expect(room.concealed(since: seconds) == 0, "\(room.concealed(since: seconds)) frames made up")
        let depth = try room.playout(of: 1).depth
        #expect(depth < most, "\(depth)")
    }

    // MARK: Numbers

    @Test(arguments: [Codec.pcm, .opus, .opusCustom, .aac])
    func `sequence numbers and timestamps that wrap make no difference`(codec: Codec) throws {
        var shift: (sequence: UInt16, timestamp: UInt32)?
        let room = try run(codec, until: 4) { packet, _ in
            var packet = packet
            let by = shift ?? (UInt16.max - 40 &- packet.sequence, 0 &- 60_000 &- packet.timestamp)
            shift = by
            packet.sequence &+= by.sequence
            packet.timestamp &+= by.timestamp
            return [packet]
        }
        var plain = try MeddledRoom(codec)
        try plain.simulation.run(until: 4)
        #expect(room.simulation.peers[0].heard == plain.simulation.peers[0].heard)
        let counted = room.counted.rtp
        #expect(counted.packetsMissing == 0 && counted.restarts == 0 && counted.packetsIgnored == 0)
        #expect(try room.playout(of: 1) == plain.playout(of: 1))
    }

    @Test(
        arguments: [Codec.pcm, .opus, .aac],
        [(20_000, 1 << 30), (-5_000, -480_000), (0, 1 << 30), (0, -960_000), (-50, 0)])
    func `a peer that restarts its sequence numbers or timestamps is heard again within two seconds`(
        codec: Codec, shift: (sequence: Int, timestamp: Int)
    ) throws {
        let room = try run(codec, until: 7) { packet, elapsed in
            guard elapsed > 3 else { return [packet] }
            var packet = packet
            packet.sequence &+= UInt16(truncatingIfNeeded: shift.sequence)
            packet.timestamp &+= UInt32(truncatingIfNeeded: shift.timestamp)
            return [packet]
        }
        let counted = room.counted.rtp
        #expect(try counted.restarts + counted.packetsIgnored + room.playout(of: 1).restarts >= 1)
        try expectRecovered(room, since: 5)
    }

    @Test(arguments: [Codec.pcm, .opus, .aac])
    func `jumping timestamps are counted as restarts and have no lasting effect`(codec: Codec) throws {
        var random = SeededRandom(seed: 1)
        var shift: UInt32 = 0
        let room = try run(codec, until: 8) { packet, elapsed in
            let share = codec == .aac ? 0.1 : 0.02
            if (3..<5).contains(elapsed), random.unit() < share { shift = UInt32(truncatingIfNeeded: random.next()) }
            var packet = packet
            packet.timestamp &+= shift
            return [packet]
        }
        #expect(try room.playout(of: 1).restarts > 1)
        try expectRecovered(room, since: 6.5)
    }

    // MARK: Sizes, codecs, sample rates

    @Test(arguments: [480, 960, 120]) func `Opus packets that change their length during a call are played correctly`(
        frames: Int
    ) throws {
        var room = try MeddledRoom(.opus)
        let agreed = try #require(room.simulation.negotiated[1][0])
        room.simulation.events = [frames, agreed.framesPerPacket].enumerated().map { n, frames in
            (
                at: 3 + 2 * Double(n),
                action: { simulation in
                    var changed = agreed
                    changed.framesPerPacket = frames
                    var random = SeededRandom(seed: 5)
                    let session = CallSimulation.session(changed, &random)
                    try simulation.peers[1].add(PeerID(0), session: session, changed)
                }
            )
        }
        try room.simulation.run(until: 4.9)
        #expect(try #require(room.simulation.peers[0].playout(of: PeerID(1))).statistics.framesPerPacket == frames)
        try room.simulation.run(until: 8)
        #expect(room.counted.rtp.restarts == 0 && room.counted.corruptPackets == 0)
        // The card's blocks do not fill these packets evenly, which playout remembers for 12 s.
        try expectRecovered(room, since: 6, most: 0.012)
        var plain = try MeddledRoom(.opus)
        try plain.simulation.run(until: 8)
        #expect(try room.playout(of: 2) == plain.playout(of: 2))
        // When the first listener returns to the shared stream, 25 ms of it need no earlier packets: the other one hears them too.
        let (heard, expected) = (room.simulation.peers[2].heard[0], plain.simulation.peers[2].heard[0])
        #expect(heard.count == expected.count && heard[..<144_000] == expected[..<144_000])
        let error = zip(heard, expected).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
        #expect(error < 0.001 * expected.reduce(0) { $0 + $1 * $1 }, "\(error)")
    }

    @Test(arguments: [Codec.pcm, .opusCustom])
    func `packets of two blocks, then of one again, are played correctly`(codec: Codec) throws {
        var held: WirePacket?
        var sequence: UInt16?
        let room = try run(codec, until: 7) { packet, elapsed in
            var packet = packet
            defer { sequence = sequence.map { $0 &+ 1 } }
            let next = sequence ?? packet.sequence
            sequence = next
            packet.sequence = next
            guard let first = held else {
                if (3..<5).contains(elapsed) {
                    held = packet
                    sequence = next &- 1
                    return []
                }
                return [packet]
            }
            held = nil
            var both = packet
            both.timestamp = first.timestamp
            if codec == .pcm {
                both.payload = first.payload + packet.payload
            } else {
                both.payload = [first.payload[0] + packet.payload[0]] + first.payload[1...] + packet.payload[1...]
            }
            return [both]
        }
        #expect(room.counted.corruptPackets == 0 && room.counted.rtp.packetsMissing == 0)
        #expect(try room.playout(of: 1).restarts == 0)
        try expectRecovered(room, since: 6)
    }

    @Test(arguments: [Codec.pcm, .opus, .opusCustom, .aac], [1, 2])
    func `packets of a payload type that was not negotiated are counted and ignored`(codec: Codec, each: Int) throws {
        var foreign = 0
        let room = try run(codec, until: 7) { packet, elapsed in
            guard (3..<4.5).contains(elapsed), Int(packet.sequence) % each == 0 else { return [packet] }
            foreign += 1
            var other = packet
            other.payloadType = 126
            other.payload = (0..<packet.payload.count).map { UInt8(truncatingIfNeeded: $0 * 7) }
            return each == 1 ? [other] : [other, packet]
        }
        #expect(room.counted.rtp.packetsIgnored == foreign && foreign > 30)
        #expect(room.counted.corruptPackets == 0)
        // Beside the negotiated packets they cost nothing.
        if each == 2 { #expect(try room.playout(of: 1).concealed == 0 && room.counted.rtp.packetsMissing == 0) }
        try expectRecovered(room, since: 5.5)
    }

    @Test func `a 44,100 Hz device that claims 48,000 Hz is followed within half a minute`() throws {
        var room = try MeddledRoom(.pcm, badRate: 44_100, keepsFrom: 36)
        try room.simulation.run(until: 33)
        let early = try room.playout(of: 1)
        try room.simulation.run(until: 40)
        let late = try room.playout(of: 1)
        #expect(abs(late.drift - (44_100 / 48_000.0 - 1) * 1e6) < 100, "\(late.drift)")
        #expect(late.concealed == early.concealed && late.skips == early.skips && late.depth < 0.005)
        let third = try room.playout(of: 2)
        #expect(third.concealed == 0 && third.depth < 0.004)
        let tone = room.level(of: 2, at: 0, 36..<39.5)
        #expect(abs(tone - MeddledRoom.level) < 0.05 * MeddledRoom.level)
    }

    @Test(arguments: [Codec.pcm, .opus])
    func `a device with a false sample rate is not taken for a slow link once its drift is known`(
        codec: Codec
    ) throws {
        var repair = RTPRepair.everything
        repair.takesRateRequests = true
        var room = try MeddledRoom(codec, repair: repair, badRate: 44_100, keepsFrom: 60)
        try room.simulation.run(until: 33)
        func rate() throws -> RateState { try #require(room.simulation.peers[1].statistics(of: PeerID(0)).rate) }
        func asked() throws -> Int {
            try #require(room.simulation.peers[0].statistics(of: PeerID(1)).rate).requestsSent
        }
        let before = try asked()
        try room.simulation.run(until: 75)
        let (after, state) = (try asked(), try rate())
        #expect(after == before, "\(before), then \(after)")
        #expect(!state.isTooSlow && state.index == 0, "\(state)")
        let drift = try room.playout(of: 1).drift
        #expect(abs(drift - (44_100 / 48_000.0 - 1) * 1e6) < 200, "\(drift)")
    }

    @Test(arguments: [Codec.pcm, .opus])
    func `a peer that sends twice as many frames per second as it should has no lasting effect`(codec: Codec) throws {
        var (sequence, timestamp): (UInt16?, UInt32?) = (nil, nil)
        var last: UInt32?
        let room = try run(codec, until: 9) { packet, elapsed in
            let step = last.map { packet.timestamp &- $0 } ?? 0
            last = packet.timestamp
            var (place, number) = (timestamp.map { $0 &+ step } ?? packet.timestamp, sequence ?? packet.sequence)
            defer { (timestamp, sequence) = (place, number) }
            var first = packet
            (first.sequence, first.timestamp) = (number, place)
            number &+= 1
            guard (3..<6).contains(elapsed) else { return [first] }
            place &+= step
            var second = first
            (second.sequence, second.timestamp) = (number, place)
            number &+= 1
            return [first, second]
        }
        let played = try room.playout(of: 1)
        #expect(played.restarts + played.skips > 0, "\(played)")
        #expect(room.simulation.peers[0].history.allSatisfy { $0.statistics.depth < 3 })
        try expectRecovered(room, since: 7.5, most: Self.remembered)
    }

    // MARK: Two streams, and none

    enum Twin: CaseIterable { case far, farInPairs, near }

    @Test(arguments: [Codec.pcm, .opus, .aac], Twin.allCases)
    func `two streams with the same SSRC are counted and have no lasting effect`(codec: Codec, twin: Twin) throws {
        var held: [WirePacket] = []
        let room = try run(codec, until: 8) { packet, elapsed in
            guard (3..<5).contains(elapsed) else { return [packet] }
            var other = packet
            switch twin {
            case .far, .farInPairs:
                other.sequence &+= 30_000
                other.timestamp &+= 1 << 30
            case .near:
                other.sequence &+= 5
                other.timestamp &+= 700
            }
            other.payload = packet.payload.reversed()
            guard twin == .farInPairs else { return [packet, other] }
            held.append(other)
            guard held.count == 2 else { return [packet] }
            defer { held = [] }
            return [packet] + held
        }
        let counted = room.counted.rtp
        #expect(counted.packetsIgnored + counted.restarts > 20, "\(counted)")
        try expectRecovered(room, since: 6.5, most: Self.remembered)
    }

    @Test func `a peer that was silent for an hour is heard at once when it returns`() throws {
        var room = try MeddledRoom(.pcm, block: 600, keepsFrom: 3_615)
        // Its packets to the first are lost, but numbered; to the third it sends none.
        room.simulation.links[1][0].profile.events = [.outage(10..<3_610)]
        room.simulation.events = [
            (at: 10, action: { $0.peers[1].core.setOpen(false, to: PeerID(2)) }),
            (at: 3_610, action: { $0.peers[1].core.setOpen(true, to: PeerID(2)) }),
        ]
        try room.simulation.run(until: 3_609)
        let third = try room.playout(of: 2)
        try room.simulation.run(until: 3_611)
        let before = [0, 2].map { room.simulation.peers[$0].playout(of: PeerID(1))?.statistics.concealedFrames }
        try room.simulation.run(until: 3_620)
        for (n, end) in [0, 2].enumerated() {
            let played = try #require(room.simulation.peers[end].playout(of: PeerID(1))).statistics
            #expect(played.depth < 0.004 && played.concealedFrames == before[n], "\(played)")
            let level = room.level(of: 1, at: end, 3_615..<3_619.5)
            #expect(abs(level - MeddledRoom.level) < 0.05 * MeddledRoom.level, "\(level)")
        }
        #expect(room.counted.rtp.restarts == 1, "its numbers went on for an hour")
        #expect(room.simulation.peers[2].statistics(of: PeerID(1)).rtp.restarts == 0)
        #expect(try room.playout(of: 2).concealed == third.concealed && third.concealed == 0)
    }
}
