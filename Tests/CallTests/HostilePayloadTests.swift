// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall

/// Invalid payloads in authentic packets of a peer: no codec and no repair lets them do harm.
@Suite(.optimized) struct HostilePayloadTests {
    enum Place: CaseIterable { case own, redundant, repeated, all }

    /// The repair that native peers negotiate, with payload types that no codec has.
    private static var repair: RTPRepair {
        var repair = RTPRepair.everything
        (repair.redundant, repair.repeated) = (120, 121)
        return repair
    }

    /// Returns bytes that an attacker might send instead.
    private static func hostile(_ payload: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) } }
        let kind = Int(random.unit() * 8)
        let length = Int(random.unit() * 1_400)
        switch kind {
        case 0: return []
        case 1: return Array(payload.prefix(max(1, payload.count / 3)))
        case 2: return payload + bytes(length / 4)
        case 3: return Array(repeating: 0xFF, count: length)
        case 4: return Array(repeating: 0, count: length)
        // Headers of RED, of AAC units, and frame counts far beyond the payload.
        case 5: return [0x80 | 97, 0xFF, 0xFF, 0xFF, 0x80 | 97, 0, 3, 0xFF] + bytes(length / 8)
        case 6: return [0xFF, 0xF0, 0xFF, 0xF8] + bytes(length / 8)
        default: return bytes(length)
        }
    }

    @Test(arguments: [Codec.pcm, .opus, .opusCustom, .aac], Place.allCases)
    func `invalid payloads are counted, affect no other participant, and have no lasting effect`(
        codec: Codec, place: Place
    ) throws {
        func room(_ meddler: MeddledRoom.Meddler?) throws -> MeddledRoom {
            var room = try MeddledRoom(codec, repair: Self.repair, meddler)
            try room.simulation.run(until: 7)
            return room
        }
        var random = SeededRandom(seed: 17)
        var (sent, wasRepeated): (Int, UInt16) = (0, 0)
        let bad = try room { packet, elapsed in
            guard (3..<5).contains(elapsed) else { return [packet] }
            var other = packet
            other.payload = Self.hostile(packet.payload, &random)
            sent += 1
            let turn = place == .all ? Place.allCases[sent % 3] : place
            switch turn {
            case .redundant: other.payloadType = 120
            case .repeated:
                other.payloadType = 121
                other.source ^= 1
                other.sequence = wasRepeated
                wasRepeated &+= 1
                // The named packet may be missing, have arrived, or be on its way.
                let number = packet.sequence &+ UInt16(truncatingIfNeeded: Int(random.unit() * 40) - 30)
                other.payload = [UInt8(number >> 8), UInt8(number & 0xFF)] + other.payload
                return sent % 2 == 0 ? [other] : [packet, other]
            case .own, .all: break
            }
            return [other]
        }
        let plain = try room(nil)
        #expect(try bad.playout(of: 2) == plain.playout(of: 2), "the third's voice")
        #expect(bad.simulation.peers[2].heard == plain.simulation.peers[2].heard)
        #expect(bad.simulation.peers[0].heard[0].allSatisfy { abs($0) <= 1 })
        let counted = bad.counted
        let known = counted.corruptPackets + counted.redundantPackets + counted.recoveredPackets + counted.lateUnits
        #expect(known + counted.rtp.packetsIgnored + counted.rtp.packetsMissing > 10, "\(counted)")
        let level = bad.level(of: 1, at: 0, 6.2..<7)
        #expect(abs(level - MeddledRoom.level) < 0.1 * MeddledRoom.level, "\(level)")
        #expect(bad.concealed(since: 6.2) == 0)
    }
}
