// SPDX-License-Identifier: Apache-2.0

@testable import EarshotMediaTransport

/// Both ends of a protected stream.
struct SRTPPair {
    let client: SRTPSession
    let server: SRTPSession

    /// With the given keys, or with any two different ones.
    init(
        profile: SRTPProfile = .aeadAES128GCM, clientKey: [UInt8]? = nil, clientSalt: [UInt8]? = nil, other: UInt8 = 0
    ) throws {
        let key = clientKey ?? (0..<16).map { $0 &* 3 &+ other }
        let salt = clientSalt ?? (0..<profile.saltSize).map { UInt8($0) &* 5 &+ other }
        let material = key + (0..<16).map { $0 &* 7 &+ 100 &+ other } + salt + salt.map { $0 ^ 0x55 }
        func keys() -> SRTPKeys {
            SRTPKeys(profile: profile) { buffer in
                guard buffer.count == material.count else { return false }
                buffer.copyBytes(from: material)
                return true
            }!
        }
        client = try SRTPSession(keys: keys(), role: .client)
        server = try SRTPSession(keys: keys(), role: .server)
    }
}

extension SRTPSession {
    /// Uses memory with guard bytes after the room.
    func protect(_ packet: [UInt8]) throws -> [UInt8] {
        var buffer = packet + [UInt8](repeating: 0xA5, count: Self.maximumOverhead + 8)
        let count = try buffer.withUnsafeMutableBytes { bytes in
            try protect(UnsafeMutableRawBufferPointer(rebasing: bytes.dropLast(8)), count: packet.count)
        }
        precondition(buffer.suffix(8).allSatisfy { $0 == 0xA5 }, "written beyond the room")
        return Array(buffer.prefix(count))
    }

    func unprotect(_ packet: [UInt8]) throws -> [UInt8] {
        var buffer = packet + [UInt8](repeating: 0xA5, count: 8)
        let count = try buffer.withUnsafeMutableBytes { bytes in
            try unprotect(UnsafeMutableRawBufferPointer(rebasing: bytes.dropLast(8)), count: packet.count)
        }
        precondition(buffer.suffix(8).allSatisfy { $0 == 0xA5 }, "written beyond the packet")
        return Array(buffer.prefix(count))
    }
}
