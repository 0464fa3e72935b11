// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// The peers that this machine has met: keys, their names, and whether a person admitted or blocked them.
///
/// A value; its owner reads and writes the file. Dates are seconds since 1970.
package struct KnownPeers: Hashable, Sendable {
    /// Maximum number of keys. A further one replaces the one seen longest ago among those without a decision.
    package static let capacity = 4_096

    /// The knowledge of one key.
    package struct Peer: Hashable, Sendable {
        /// The last of them first; at most eight.
        package internal(set) var names: [PeerName]
        /// The time of the first contact.
        package internal(set) var firstSeen: Int64
        /// The time of the last contact.
        package internal(set) var lastSeen: Int64
        /// True if a person has said yes to it. Its names are then its own.
        package internal(set) var isAccepted = false
        /// True if a person wants never to hear of it again.
        package internal(set) var isBlocked = false
    }

    /// The standing of a guest.
    package enum Standing: Hashable, Sendable {
        /// A person let this key in before, under this name or another.
        case known
        /// Never admitted, and no known peer has the name.
        case unknown
        /// The name belongs to another key.
        case changed(was: KeyFingerprint)
        /// Shut out.
        case blocked
    }

    /// Peers by their key.
    package private(set) var peers: [KeyFingerprint: Peer] = [:]
    /// The owner of each name, folded: each guest has it looked up.
    private var owners: [String: Set<KeyFingerprint>] = [:]

    /// No known peers.
    package init() {}

    init(peers: [KeyFingerprint: Peer]) {
        for (key, peer) in peers { set(key, peer) }
    }

    /// Returns the standing of a guest who has proved `key` and goes by `name`.
    package func standing(of key: KeyFingerprint, as name: PeerName) -> Standing {
        let peer = peers[key]
        if peer?.isBlocked == true { return .blocked }
        if isOthers(name, than: key), let owner = owner(of: name) { return .changed(was: owner) }
        return peer?.isAccepted == true ? .known : .unknown
    }

    /// Returns true if a name belongs to keys that this one is not among.
    func isOthers(_ name: PeerName, than key: KeyFingerprint?) -> Bool {
        guard let owners = owners[name.folded] else { return false }
        return key.map { !owners.contains($0) } ?? true
    }

    /// Returns the owner of a name: the key that a person let in under it, the longest known if there are several.
    package func owner(of name: PeerName) -> KeyFingerprint? {
        let owners = owners[name.folded] ?? []
        return owners.min { (peers[$0]?.firstSeen ?? 0, $0.hex) < (peers[$1]?.firstSeen ?? 0, $1.hex) }
    }

    /// Notes that a key came under a name.
    /// - Parameter isAccepted: whether a person said yes. A yes once given stays, and lifts a block.
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

    /// Shuts a key out. - Parameter name: what it went by, for the list.
    package mutating func block(_ key: KeyFingerprint, as name: PeerName, date: Int64) {
        note(key, as: name, isAccepted: false, date: date)
        guard var peer = peers[key] else { return }
        peer.isBlocked = true
        peer.isAccepted = false
        set(key, peer)
    }

    /// Lets a key ask again. It is not let in by that.
    package mutating func unblock(_ key: KeyFingerprint) { peers[key]?.isBlocked = false }

    /// Knows no more of a key; its names are free. - Returns: whether it was known.
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

    /// The keys that a person may mean: by name, or by the first digits of the fingerprint, blanks and case aside.
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
