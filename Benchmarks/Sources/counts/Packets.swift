// SPDX-License-Identifier: Apache-2.0

import BenchScenes
import EarshotAudioBase

@testable import EarshotMediaTransport

/// Packets through a ``MediaEndpoint``, from the caller's memory to the data for a socket and back.
enum Packets {
    private static let packetCount = 200

    static func count() throws {
        for size in [20, 300, 1_200] { try bothWays(size) }
        try refused()
        try handshake()
    }

    private struct Rig {
        let pair: EndpointPair
        let row = PacketRow(count: Packets.packetCount)
        let packet: NumberedPacket

        init(_ size: Int) throws {
            pair = try EndpointPair()
            packet = NumberedPacket(size: size)
        }

        func send() {
            for i in 0..<Packets.packetCount {
                let isSent = pair.ends[0].endpoint.send(packet.next(), to: EndpointPair.peer) { bytes, _, _ in
                    row[i].copyMemory(from: bytes)
                    row.sizes[i] = bytes.count
                }
                require(isSent, "a packet was not sent")
            }
        }

        /// - Returns: the number of accepted packets.
        @discardableResult
        func receive() -> Int {
            let end = pair.ends[1]
            var taken = 0
            for i in 0..<Packets.packetCount {
                end.endpoint.receive(
                    row.datagram(i), from: pair.ends[0].address, to: end.address.address, at: pair.now,
                    transmit: { _, _, _ in }, deliver: { _, event in if case .packet = event { taken += 1 } })
            }
            return taken
        }
    }

    private static func bothWays(_ size: Int) throws {
        let rig = try Rig(size)
        rig.send()
        require(rig.receive() == packetCount, "a packet was not taken")
        counted("a packet of \(size) bytes, sent", packetCount) { rig.send() }
        var taken = 0
        counted("a packet of \(size) bytes, received", packetCount) { taken = rig.receive() }
        require(taken == packetCount, "a packet was not taken")
    }

    /// Counts a packet from a sender without keys.
    private static func refused() throws {
        let rig = try Rig(300)
        rig.send()
        let copy = PacketRow(count: packetCount)
        func keep() {
            for i in 0..<packetCount {
                copy[i].copyMemory(from: UnsafeRawBufferPointer(rig.row.datagram(i)))
                copy.sizes[i] = rig.row.sizes[i]
            }
        }
        func bringBack(_ change: (UnsafeMutableRawBufferPointer) -> Void) {
            for i in 0..<packetCount {
                rig.row[i].copyMemory(from: UnsafeRawBufferPointer(copy.datagram(i)))
                rig.row.sizes[i] = copy.sizes[i]
                change(rig.row.datagram(i))
            }
        }
        keep()
        require(rig.receive() == packetCount, "a packet was not taken")
        var taken = 0
        bringBack { _ in }
        counted("a packet sent again by a stranger, refused", packetCount) { taken = rig.receive() }
        rig.send()
        keep()
        bringBack { $0[100] ^= 1 }
        counted("a changed packet, refused", packetCount) { taken += rig.receive() }
        bringBack { $0[8] ^= 1 }
        counted("a packet of an invented source, refused", packetCount) { taken += rig.receive() }
        require(taken == 0, "a hostile packet was taken")
    }

    private static func handshake() throws {
        let identities = try (0..<2).map { _ in try Identity.generate(at: 1_800_000_000) }
        func run() throws {
            let now = HostTime(nanoseconds: 0)
            let client = try DTLSSession(
                role: .client, identity: identities[0], peer: identities[1].certificateFingerprint)
            let server = try DTLSSession(
                role: .server, identity: identities[1], peer: identities[0].certificateFingerprint)
            var toServer: [[UInt8]] = []
            client.start(at: now) { toServer.append(Array($0)) }
            while !toServer.isEmpty {
                var toClient: [[UInt8]] = []
                for datagram in toServer {
                    datagram.withUnsafeBytes {
                        server.receive($0, at: now, transmit: { toClient.append(Array($0)) }, message: { _ in })
                    }
                }
                toServer = []
                for datagram in toClient {
                    datagram.withUnsafeBytes {
                        client.receive($0, at: now, transmit: { toServer.append(Array($0)) }, message: { _ in })
                    }
                }
            }
            require(client.peerKey != nil && server.peerKey != nil, "no session")
        }
        try run()
        try counted("a handshake, both ends", 10) { for _ in 0..<10 { try run() } }
    }
}
