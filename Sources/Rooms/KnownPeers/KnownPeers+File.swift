// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Foundation

/// The file: a JSON object `{"version": 1, "peers": [{"key", "names", "firstSeen", "lastSeen", "accepted", "blocked"}]}`.
extension KnownPeers {
    /// The maximum bytes of a file.
    package static let maximumFileSize = 8 << 20

    private struct File: Codable {
        var version: Int
        var peers: [Entry]
    }

    private struct Entry: Codable {
        var key: KeyFingerprint
        var names: [PeerName]
        var firstSeen: Int64
        var lastSeen: Int64
        var accepted: Bool
        var blocked: Bool
    }

    /// Reads a file. After an error do not change the file: it may still be repaired.
    package init(parsing file: [UInt8]) throws(KnownPeersError) {
        guard file.count <= Self.maximumFileSize else { throw .tooLarge(file.count) }
        let data = Data(file)
        let content: File
        do {
            let version = try JSONDecoder().decode(Version.self, from: data).version
            guard version == 1 else { throw KnownPeersError.otherVersion(version) }
            content = try JSONDecoder().decode(File.self, from: data)
        } catch let error as KnownPeersError {
            throw error
        } catch {
            throw .damaged(WireJSON.sentence(of: error))
        }
        var peers: [KeyFingerprint: Peer] = [:]
        for (index, entry) in content.peers.enumerated() {
            guard peers[entry.key] == nil else {
                throw .damaged("entry \(index + 1) has the same key as an earlier one")
            }
            guard (1...Self.nameCapacity).contains(entry.names.count) else {
                throw .damaged("entry \(index + 1) has \(entry.names.count) names")
            }
            guard !(entry.accepted && entry.blocked) else {
                throw .damaged("entry \(index + 1) is accepted and blocked at once")
            }
            peers[entry.key] = Peer(
                names: entry.names, firstSeen: entry.firstSeen, lastSeen: max(entry.firstSeen, entry.lastSeen),
                isAccepted: entry.accepted, isBlocked: entry.blocked)
        }
        guard peers.count <= Self.capacity else { throw .damaged("it has more than \(Self.capacity) entries") }
        self.init(peers: peers)
    }

    /// The file's bytes: indented JSON with the peers in the order of first contact, so that two versions can be compared by
    /// lines.
    package var file: [UInt8] {
        let entries = peers.map { key, peer in
            Entry(
                key: key, names: peer.names, firstSeen: peer.firstSeen, lastSeen: peer.lastSeen,
                accepted: peer.isAccepted, blocked: peer.isBlocked)
        }.sorted { ($0.firstSeen, $0.key.hex) < ($1.firstSeen, $1.key.hex) }
        return WireJSON.encoded(File(version: 1, peers: entries), isPretty: true) + [0x0A]
    }

    private struct Version: Decodable {
        let version: Int
    }
}

/// The reason that a file of known peers cannot be read. Do not change the file.
public enum KnownPeersError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file is too large; the value is in bytes.
    case tooLarge(Int)
    /// The file is of another version of Earshot; the value is the version in the file.
    case otherVersion(Int)
    /// The file is damaged; the value describes the fault.
    case damaged(String)

    /// One sentence that says what is wrong. The owner puts the file's path before it.
    public var description: String {
        switch self {
        case .tooLarge(let size): "\(size) bytes are too many for a list of known peers; the file is unchanged"
        case .otherVersion(let version):
            "version \(version) of the list of known peers, this Earshot reads 1; it is left as it is"
        case .damaged(let what): "damaged (\(what)); the file is unchanged"
        }
    }
}
