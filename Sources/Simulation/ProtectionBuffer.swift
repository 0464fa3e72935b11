// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// The buffer in which a packet is encrypted on its way to the network.
final class ProtectionBuffer {
    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)

    deinit { memory.deallocate() }

    /// Returns the protected packet, valid until the next call; nil without a session, or if it cannot protect the packet.
    func protect(_ packet: UnsafeRawBufferPointer, by session: SRTPSession?) -> UnsafeRawBufferPointer? {
        guard let session, packet.count + SRTPSession.maximumOverhead <= memory.count else { return nil }
        memory.copyMemory(from: packet)
        guard let count = try? session.protect(memory, count: packet.count) else { return nil }
        return UnsafeRawBufferPointer(rebasing: memory[..<count])
    }
}

extension CallSimulation {
    /// Returns the SRTP sessions of all pairs of peers, with random keys: the one at `[a][b]` is peer `a`'s session with peer
    /// `b`.
    static func protection(_ count: Int, _ random: inout SeededRandom) throws(SRTPError) -> [[SRTPSession?]] {
        var sessions = [[SRTPSession?]](repeating: [SRTPSession?](repeating: nil, count: count), count: count)
        for a in 0..<count {
            for b in 0..<count where b > a {
                let seed = random.next()
                sessions[a][b] = try session(seed, .client)
                sessions[b][a] = try session(seed, .server)
            }
        }
        return sessions
    }

    private static func session(_ seed: UInt64, _ role: DTLSRole) throws(SRTPError) -> SRTPSession? {
        var random = SeededRandom(seed: seed)
        let keys = SRTPKeys(profile: .aeadAES128GCM) { material in
            for index in material.indices { material[index] = UInt8(truncatingIfNeeded: random.next()) }
            return true
        }
        guard let keys else { return nil }
        return try SRTPSession(keys: keys, role: role)
    }
}
