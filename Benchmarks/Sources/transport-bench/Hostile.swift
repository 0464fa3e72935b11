// SPDX-License-Identifier: Apache-2.0

@testable import EarshotAudioBase
@testable import EarshotMediaTransport
@testable import TestSupport

/// The datagrams of an attacker who receives everything on the wire but has no keys.
enum Hostile: String, CaseIterable {
    case noise = "noise"
    case checks = "changed checks"
    case replayedChecks = "checks sent again"
    case handshakes = "changed and repeated handshakes"
    case packets = "changed packets"
    case replayedPackets = "packets sent again"
    case forged = "packets of an invented source"
    case cut = "cut datagrams"

    /// Returns a datagram of this kind.
    /// - Parameters:
    ///   - heard: intercepted datagrams, some of each kind.
    func make(_ heard: Heard, _ random: inout SeededRandom) -> [UInt8] {
        switch self {
        case .noise:
            var bytes = (0..<random.below(1_200)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            // Half of them have a plausible first byte.
            if !bytes.isEmpty, random.below(2) == 0 { bytes[0] = [0, 22, 23, 0x80, 0x90][random.below(5)] }
            return bytes
        case .checks: return changed(heard.checks, &random)
        case .replayedChecks: return heard.checks[random.below(heard.checks.count)]
        case .handshakes:
            return random.below(2) == 0
                ? changed(heard.handshakes, &random) : heard.handshakes[random.below(heard.handshakes.count)]
        case .packets:
            var bytes = changed(heard.packets, &random)
            // A new number: otherwise the packet is dropped before any other check.
            bytes[2] ^= UInt8(truncatingIfNeeded: random.next()) | 0x40
            return bytes
        case .replayedPackets: return heard.packets[random.below(heard.packets.count)]
        case .forged:
            var bytes = heard.packets[random.below(heard.packets.count)]
            for i in 2..<12 { bytes[i] = UInt8(truncatingIfNeeded: random.next()) }
            return bytes
        case .cut:
            let all = [heard.checks, heard.handshakes, heard.packets][random.below(3)]
            let bytes = all[random.below(all.count)]
            return Array(bytes.prefix(random.below(bytes.count)))
        }
    }

    private func changed(_ datagrams: [[UInt8]], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = datagrams[random.below(datagrams.count)]
        for _ in 0...random.below(3) { bytes[random.below(bytes.count)] ^= UInt8(1 << random.below(8)) }
        return bytes
    }
}

/// The intercepted datagrams of a session, from one side.
struct Heard {
    var checks: [[UInt8]] = []
    var handshakes: [[UInt8]] = []
    var packets: [[UInt8]] = []

    mutating func add(_ bytes: [UInt8]) {
        switch bytes.first ?? 255 {
        case 0, 1: if checks.count < 64 { checks.append(bytes) }
        case 20...63: if handshakes.count < 64 { handshakes.append(bytes) }
        case 128...191: if packets.count < 512 { packets.append(bytes) }
        default: break
        }
    }

    var isComplete: Bool { !checks.isEmpty && !handshakes.isEmpty && packets.count == 512 }
}
