// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import Foundation
import TestSupport
import Testing

@testable import EarshotNearby

/// The volumes of persons, and their file.
@Suite struct PeerVolumesTests {
    private static func key(_ number: Int) throws -> KeyFingerprint {
        let bytes = [UInt8(number / 256), UInt8(number % 256)] + [UInt8](repeating: 7, count: 30)
        return try #require(KeyFingerprint(bytes: bytes))
    }

    private static func volumes() throws -> PeerVolumes {
        var volumes = PeerVolumes()
        volumes[try key(2)] = .init(volume: 0.25)
        volumes[try key(1)] = .init(volume: 1, isHeard: false)
        volumes[try key(3)] = .init(volume: 8, isHeard: false)
        return volumes
    }

    @Test func `a file reads back as it was written, in its order`() throws {
        let volumes = try Self.volumes()
        let read = PeerVolumes(parsing: volumes.file)
        #expect(read == volumes && read?.entries.map(\.setting.volume) == [0.25, 1, 8])
        #expect(PeerVolumes(parsing: PeerVolumes().file) == PeerVolumes())
    }

    @Test func `the default volume leaves no entry`() throws {
        var volumes = try Self.volumes()
        volumes.apply([.init(key: try Self.key(2), setting: .init())])
        volumes[try Self.key(3)] = nil
        #expect(try volumes.entries.map(\.key) == [Self.key(1)] && volumes[Self.key(2)] == nil)
    }

    @Test func `the entry that was set longest ago leaves for the 257th`() throws {
        var volumes = PeerVolumes()
        for number in 0..<PeerVolumes.capacity { volumes[try Self.key(number)] = .init(volume: 0.123_456_78) }
        volumes[try Self.key(0)] = .init(volume: 0.5)
        volumes[try Self.key(1_000)] = .init(isHeard: false)
        #expect(try volumes.entries.count == 256 && volumes[Self.key(0)] != nil && volumes[Self.key(1)] == nil)
        #expect(volumes.file.count < PeerVolumes.maximumFileSize && PeerVolumes(parsing: volumes.file) == volumes)
    }

    @Test func `volumes in a file are clamped, and the last of two entries counts`() throws {
        let key = try Self.key(1)
        func entry(_ volume: String) -> String { #"{"key": "\#(key.hex)", "volume": \#(volume), "heard": true}"# }
        for (volume, clamped) in [("100", 8), ("-3", 0), ("0.5", 0.5)] as [(String, Float)] {
            let file = #"{"version": 1, "peers": [\#(entry("2")), \#(entry(volume))]}"#
            #expect(PeerVolumes(parsing: Array(file.utf8))?.entries.map(\.setting.volume) == [clamped], "\(volume)")
        }
    }

    @Test func `a damaged file, one of another version and one that is too large are no memory`() throws {
        let file = try Self.volumes().file
        let text = String(decoding: file, as: UTF8.self)
        for damaged in [
            "", "nonsense", "{}", "[]", String(text.dropLast(20)),
            text.replacing("\"version\" : 1", with: "\"version\" : 2"),
            text.replacing("0.25", with: "\"x\""), text.replacing("07", with: "zz"),
            text + String(repeating: " ", count: PeerVolumes.maximumFileSize),
        ] {
            #expect(damaged != text && PeerVolumes(parsing: Array(damaged.utf8)) == nil, "\(damaged.prefix(100))")
        }
    }

    // MARK: The store

    @Test func `volumes are stored beside the known peers, and only their owner can read them`() throws {
        let scratch = try Scratch()
        let store = NearbyStore(directory: scratch("earshot"))
        #expect(store.peerVolumes() == PeerVolumes())
        let volumes = try Self.volumes()
        try store.updateVolumes { $0.apply(volumes.entries) }
        #expect(NearbyStore(directory: scratch("earshot")).peerVolumes() == volumes)
        let path = scratch("earshot/peer-volumes.json")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch("earshot")).sorted()
        #expect(names == ["lock", "peer-volumes.json"])
    }

    @Test(arguments: ["nonsense", String(repeating: "x", count: PeerVolumes.maximumFileSize + 1)])
    func `a file that cannot be read is no memory, and the next change replaces it`(content: String) throws {
        let scratch = try Scratch()
        let store = NearbyStore(directory: scratch("earshot"))
        let volumes = try Self.volumes()
        try store.updateVolumes { $0 = volumes }
        let path = scratch("earshot/peer-volumes.json")
        try Data(content.utf8).write(to: URL(fileURLWithPath: path))
        #expect(store.peerVolumes() == PeerVolumes())
        let key = try Self.key(9)
        try store.updateVolumes { $0[key] = .init(volume: 2) }
        #expect(store.peerVolumes().entries == [.init(key: key, setting: .init(volume: 2))])
    }

    @Test func `a file of a later version is no memory, and is not changed`() throws {
        let scratch = try Scratch()
        let store = NearbyStore(directory: scratch("earshot"))
        let volumes = try Self.volumes()
        try store.updateVolumes { $0 = volumes }
        let path = scratch("earshot/peer-volumes.json")
        let later = try String(contentsOfFile: path, encoding: .utf8).replacing(
            "\"version\" : 1", with: "\"version\" : 2")
        try Data(later.utf8).write(to: URL(fileURLWithPath: path))
        let key = try Self.key(9)
        #expect(store.peerVolumes() == PeerVolumes())
        #expect(throws: NearbyStoreError.laterVersion(path)) { try store.updateVolumes { $0[key] = .init(volume: 2) } }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == later)
    }

    @Test func `fields that a later version added stay when a volume changes`() throws {
        let (one, two) = (try Self.key(1), try Self.key(2))
        let file = #"""
            {"version": 1, "room": {"echo": [1, 2.5, null]}, "peers": [
            {"key": "\#(one.hex)", "volume": 0.5, "heard": true, "pan": -0.25},
            {"key": "\#(two.hex)", "volume": 1, "heard": true, "effect": "hall"}]}
            """#
        var volumes = try #require(PeerVolumes(parsing: Array(file.utf8)))
        #expect(volumes.entries.map(\.key) == [one])
        volumes.apply([.init(key: one, setting: .init()), .init(key: try Self.key(3), setting: .init(volume: 2))])
        let written = try #require(try JSONSerialization.jsonObject(with: Data(volumes.file)) as? [String: Any])
        #expect((written["room"] as? [String: Any])?["echo"] as? [Any?] != nil)
        let peers = try #require(written["peers"] as? [[String: Any]])
        let others = Dictionary(uniqueKeysWithValues: peers.map { ($0["key"] as? String ?? "", $0) })
        #expect(others[one.hex]?["pan"] as? Double == -0.25 && others[one.hex]?["volume"] as? Double == 1)
        #expect(others[two.hex]?["effect"] as? String == "hall" && peers.count == 3)
        #expect(PeerVolumes(parsing: volumes.file) == volumes)
    }

    @Test func `two programs that change volumes at the same time lose no person's`() throws {
        let scratch = try Scratch()
        let directory = scratch("earshot")
        let keys = try (0..<40).map { try Self.key($0) }
        DispatchQueue.concurrentPerform(iterations: keys.count) { number in
            try? NearbyStore(directory: directory).updateVolumes { $0[keys[number]] = .init(volume: 0.5) }
        }
        #expect(Set(NearbyStore(directory: directory).peerVolumes().entries.map(\.key)) == Set(keys))
    }

    @Test func `a failure of the disk is reported when volumes are stored, not when they are read`() throws {
        let store = NearbyStore(directory: "/proc/earshot")
        let key = try Self.key(1)
        #expect(store.peerVolumes() == PeerVolumes())
        #expect(throws: NearbyStoreError.self) { try store.updateVolumes { $0[key] = .init(volume: 2) } }
    }

    @Test func `a store in memory writes no file`() throws {
        let store = NearbyStore.inMemory()
        let volumes = try Self.volumes()
        try store.updateVolumes { $0 = volumes }
        #expect(store.peerVolumes() == volumes && store.directory == nil)
        #expect(NearbyStore.inMemory().peerVolumes() == PeerVolumes())
    }

    @Test func `a session stores volumes before it is closed, and the next one reads them`() async throws {
        let scratch = try Scratch()
        var configuration = NearbySession.Configuration(
            name: try PeerName("Hanna"), store: NearbyStore(directory: scratch("earshot")))
        configuration.address = .loopback
        configuration.port = 0
        let volumes = try Self.volumes()
        let first = try await NearbySession(configuration)
        #expect(await first.rememberedVolumes == PeerVolumes())
        first.storeVolumes(volumes.entries)
        await first.close()
        let second = try await NearbySession(configuration)
        #expect(await second.rememberedVolumes == volumes)
        await second.close()
    }
}
