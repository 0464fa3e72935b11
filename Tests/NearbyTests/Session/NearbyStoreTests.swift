// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import Foundation
import TestSupport
import Testing

@testable import EarshotNearby

@Suite struct NearbyStoreTests {
    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func `a key is created only once, and only its owner can read it`() throws {
        let scratch = try Scratch()
        let store = NearbyStore(directory: scratch("a/b/earshot"))
        let first = try store.identity(hostNames: ["alpha.local"], at: 1_800_000_000)
        let again = try store.identity(addresses: [IPAddress.loopback], at: 1_900_000_000)
        #expect(first.fingerprint == again.fingerprint && first.certificatePEM != again.certificatePEM)
        #expect(try mode(scratch("a/b/earshot")) == 0o700)
        #expect(try mode(scratch("a/b/earshot/identity.pem")) == 0o600)
    }

    @Test func `known peers are stored`() throws {
        let scratch = try Scratch()
        let store = NearbyStore(directory: scratch("earshot"))
        let key = try NearbyStore.inMemory().identity().fingerprint
        #expect(try store.knownPeers().peers.isEmpty)
        try store.update { $0.note(key, as: try! PeerName("Gustav"), isAccepted: true, date: 5) }
        #expect(try NearbyStore(directory: scratch("earshot")).knownPeers().peers[key]?.isAccepted == true)
        #expect(try mode(scratch("earshot/known-peers.json")) == 0o600)
    }

    @Test func `an unreadable file is left unchanged and named in the error`() throws {
        let scratch = try Scratch()
        let store = NearbyStore(directory: scratch("earshot"))
        _ = try store.identity()
        for file in ["identity.pem", "known-peers.json"] {
            try Data("nonsense".utf8).write(to: URL(fileURLWithPath: scratch("earshot/\(file)")))
        }
        do {
            _ = try store.identity()
            Issue.record("nonsense is an identity")
        } catch {
            #expect("\(error)".contains(scratch("earshot/identity.pem")))
        }
        #expect(throws: NearbyStoreError.self) { try store.update { _ in } }
        for file in ["identity.pem", "known-peers.json"] {
            #expect(try String(contentsOfFile: scratch("earshot/\(file)"), encoding: .utf8) == "nonsense")
        }
    }

    @Test func `a directory that cannot be created is named in the error`() throws {
        let store = NearbyStore(directory: "/proc/earshot")
        do {
            _ = try store.identity()
            Issue.record("/proc took a folder")
        } catch {
            #expect("\(error)".contains("/proc/earshot"))
        }
    }

    @Test func `several concurrent callers create only one key`() async throws {
        let scratch = try Scratch()
        let path = scratch("earshot")
        let keys = try await withThrowingTaskGroup(of: KeyFingerprint.self) { group in
            for _ in 0..<8 { group.addTask { try NearbyStore(directory: path).identity().fingerprint } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
    }
}
