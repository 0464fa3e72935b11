// SPDX-License-Identifier: Apache-2.0

import BenchReports
import BenchScenes

@testable import EarshotAudioBase
@testable import EarshotMediaTransport
@testable import TestSupport

/// The cost of a hostile datagram for an endpoint in a session, by kind, from the remote peer's own address and from others.
struct HostileCost {
    private static let count = 4_000

    static func reports() throws -> [Report] {
        let pair = try EndpointPair()
        var heard = Heard()
        for entry in pair.record where entry.from == 0 { heard.add(entry.bytes) }
        let packet = NumberedPacket(size: 300)
        let (from, to) = (pair.ends[0], pair.ends[1])
        for _ in 0..<512 {
            from.endpoint.send(packet.next(), to: EndpointPair.peer) { bytes, _, _ in heard.add(Array(bytes)) }
        }
        var delivered = 0
        func receive(_ bytes: UnsafeMutableRawBufferPointer, from source: SocketAddress) {
            to.endpoint.receive(
                bytes, from: source, to: to.address.address, at: pair.now, transmit: { _, _, _ in },
                deliver: { _, event in if case .packet = event { delivered += 1 } })
        }
        // The originals of the replayed datagrams.
        for bytes in heard.packets {
            var bytes = bytes
            bytes.withUnsafeMutableBytes { receive($0, from: from.address) }
        }
        guard delivered == heard.packets.count else { throw NoSession() }
        var random = SeededRandom(seed: 5)
        let strangers = (0..<UInt32(250)).map { SocketAddress(.v4(0x0A01_0000 + $0), port: 40_000) }
        return Hostile.allCases.map { kind in
            let row = PacketRow(count: count)
            var times = (near: Times(), far: Times())
            for repetition in 0..<12 {
                for i in 0..<count {
                    let bytes = kind.make(heard, &random)
                    bytes.withUnsafeBytes { row[i].copyMemory(from: $0) }
                    row.sizes[i] = bytes.count
                }
                if repetition.isMultiple(of: 2) {
                    times.near.add(count) { for i in 0..<count { receive(row.datagram(i), from: from.address) } }
                } else {
                    times.far.add(count) {
                        for i in 0..<count { receive(row.datagram(i), from: strangers[i % strangers.count]) }
                    }
                }
            }
            precondition(delivered == heard.packets.count, "a hostile packet was taken")
            return Report(
                "\(kind.rawValue)", max(times.near.median, times.far.median),
                least: max(times.near.least, times.far.least), "µs", .atMost(20),
                against:
                    "from the remote peer's address \(decimal(times.near.median, 2)) µs, from others' \(decimal(times.far.median, 2)) µs"
            )
        }
    }
}
