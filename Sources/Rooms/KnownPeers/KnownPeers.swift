// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The peers that this machine has met: keys, their names, and whether a user admitted or blocked them.
///
/// A value; its owner reads and writes the file. Dates are seconds since 1970.
package struct KnownPeers: Hashable, Sendable {
    /// The maximum number of keys. A further one replaces the one seen longest ago, if possible one that no user has accepted or
    /// blocked.
    package static let capacity = 4_096

    /// The recorded facts about one key.
    package struct Peer: Hashable, Sendable {
        /// The names, the latest first; at most eight.
        package internal(set) var names: [PeerName]
        /// The time of the first contact.
        package internal(set) var firstSeen: Int64
        /// The time of the last contact.
        package internal(set) var lastSeen: Int64
        /// True if a user accepted the key. Peers with other keys may then not use its names.
        package internal(set) var isAccepted = false
        /// True if a user blocked the key.
        package internal(set) var isBlocked = false
    }

    /// The standing of a peer with a verified key and a name.
    package enum Standing: Hashable, Sendable {
        /// A user accepted this key before, under this name or another.
        case known
        /// No user has accepted this key, and no accepted peer has the name.
        case unknown
        /// The name belongs to another key that a user accepted: `was`.
        case changed(was: KeyFingerprint)
        /// The key is blocked.
        case blocked
    }

    /// The peers by key.
    package private(set) var peers: [KeyFingerprint: Peer] = [:]
    /// The accepted keys with each folded name, for a fast lookup at each request.
    private var owners: [String: Set<KeyFingerprint>] = [:]

    /// Creates an empty list of known peers.
    package init() {}

    init(peers: [KeyFingerprint: Peer]) {
        for (key, peer) in peers { set(key, peer) }
    }

    /// Returns the standing of a peer with a verified key and a name.
    package func standing(of key: KeyFingerprint, as name: PeerName) -> Standing {
        let peer = peers[key]
        if peer?.isBlocked == true { return .blocked }
        if isOthers(name, than: key), let owner = owner(of: name) { return .changed(was: owner) }
        return peer?.isAccepted == true ? .known : .unknown
    }

    /// Returns true if a name belongs to other keys only.
    func isOthers(_ name: PeerName, than key: KeyFingerprint?) -> Bool {
        guard let owners = owners[name.folded] else { return false }
        return key.map { !owners.contains($0) } ?? true
    }

    /// Returns the key that a user accepted under a name, the first met if there are several; nil if there is none.
    package func owner(of name: PeerName) -> KeyFingerprint? {
        let owners = owners[name.folded] ?? []
        return owners.min { (peers[$0]?.firstSeen ?? 0, $0.hex) < (peers[$1]?.firstSeen ?? 0, $1.hex) }
    }

    /// Records that a peer with this key used this name.
    /// - Parameter isAccepted: true if a user accepted it, which is permanent and lifts a block.
    package mutating func note(_ key: KeyFingerprint, as name: PeerName, isAccepted: Bool, date: Int64) {
        var peer = peers[key] ?? Peer(names: [], firstSeen: date, lastSeen: date)
        peer.names.removeAll { $0 == name }
        peer.names.insert(name, at: 0)
        peer.names = Array(peer.names.prefix(Self.nameCapacity))
        peer.lastSeen = max(peer.lastSeen, date)
        if isAccepted {
            peer.isAccepted = true
            peer.isBlocked = false
        }
        if peers[key] == nil { makeRoom() }
        set(key, peer)
    }

    /// Blocks a key.
    /// - Parameter name: the name of the key's peer, for lists of known peers.
    package mutating func block(_ key: KeyFingerprint, as name: PeerName, date: Int64) {
        note(key, as: name, isAccepted: false, date: date)
        guard var peer = peers[key] else { return }
        peer.isBlocked = true
        peer.isAccepted = false
        set(key, peer)
    }

    /// Unblocks a key, without admitting it.
    package mutating func unblock(_ key: KeyFingerprint) { peers[key]?.isBlocked = false }

    /// Removes a key and its names.
    /// - Returns: true if the key was in the list.
    @discardableResult
    package mutating func forget(_ key: KeyFingerprint) -> Bool {
        defer { set(key, nil) }
        return peers[key] != nil
    }

    private mutating func set(_ key: KeyFingerprint, _ peer: Peer?) {
        if let old = peers[key], old.isAccepted {
            for name in old.names.map(\.folded) {
                owners[name]?.remove(key)
                if owners[name]?.isEmpty == true { owners[name] = nil }
            }
        }
        peers[key] = peer
        if let peer, peer.isAccepted { for name in peer.names { owners[name.folded, default: []].insert(key) } }
    }

    /// Returns the keys with this name, or with a fingerprint that begins with these hexadecimal digits, at least four. Case,
    /// blanks and hyphens are ignored.
    package func keys(matching text: String) -> [KeyFingerprint] {
        let digits = text.lowercased().filter { !$0.isWhitespace && $0 != "-" }
        let name = try? PeerName(text).folded
        return peers.filter { key, peer in
            (digits.count >= 4 && key.hex.hasPrefix(digits)) || peer.names.contains { $0.folded == name }
        }.keys.sorted { $0.hex < $1.hex }
    }

    static let nameCapacity = 8

    private mutating func makeRoom() {
        guard peers.count >= Self.capacity else { return }
        let oldest = peers.min { a, b in
            let (isDecidedA, isDecidedB) = (a.value.isDecided, b.value.isDecided)
            return isDecidedA != isDecidedB ? isDecidedB : a.value.lastSeen < b.value.lastSeen
        }
        if let oldest { set(oldest.key, nil) }
    }
}

extension KnownPeers.Peer {
    fileprivate var isDecided: Bool { isAccepted || isBlocked }
}
