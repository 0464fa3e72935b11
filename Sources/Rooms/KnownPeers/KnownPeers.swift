import MediaTransport

/// Whom this machine has met: keys, under which names, and whether a person let them in or shut them out.
///
/// A value; its owner reads and writes the file. Dates are seconds since 1970.
public struct KnownPeers: Hashable, Sendable {
    /// Keys kept. One more takes the place of that seen longest ago among those that nobody decided on.
    public static let capacity = 4_096

    /// What is known of one key.
    public struct Peer: Hashable, Sendable {
        /// The last of them first; at most eight.
        public internal(set) var names: [PeerName]
        /// When it came first.
        public internal(set) var firstSeen: Int64
        /// When it came last.
        public internal(set) var lastSeen: Int64
        /// Whether a person has said yes to it. Its names are then its own.
        public internal(set) var isAccepted = false
        /// Whether a person wants never to hear of it again.
        public internal(set) var isBlocked = false
    }

    /// What is to be thought of somebody.
    public enum Standing: Hashable, Sendable {
        /// A person let this key in before, under this name or another.
        case known
        /// Never let in, and the name is nobody else's.
        case unknown
        /// The name belongs to another key.
        case changed(was: KeyFingerprint)
        /// Shut out.
        case blocked
    }

    /// By key.
    public private(set) var peers: [KeyFingerprint: Peer] = [:]

    /// Nobody.
    public init() {}

    init(peers: [KeyFingerprint: Peer]) { self.peers = peers }

    /// What is to be thought of somebody who has proved `key` and goes by `name`.
    public func standing(of key: KeyFingerprint, as name: PeerName) -> Standing {
        if let peer = peers[key] {
            if peer.isBlocked { return .blocked }
            if peer.isAccepted, peer.names.contains(where: { $0.folded == name.folded }) { return .known }
        }
        if let owner = owner(of: name), owner != key { return .changed(was: owner) }
        return peers[key]?.isAccepted == true ? .known : .unknown
    }

    /// Whose name it is: the key that a person let in under it, the longest known where there are several.
    public func owner(of name: PeerName) -> KeyFingerprint? {
        let folded = name.folded
        let owners = peers.filter { $0.value.isAccepted && $0.value.names.contains { $0.folded == folded } }
        return owners.min { ($0.value.firstSeen, $0.key.hex) < ($1.value.firstSeen, $1.key.hex) }?.key
    }

    /// Notes that a key came under a name. - Parameter isAccepted: whether a person said yes; a yes once given stays.
    public mutating func note(_ key: KeyFingerprint, as name: PeerName, isAccepted: Bool, date: Int64) {
        var peer = peers[key] ?? Peer(names: [], firstSeen: date, lastSeen: date)
        peer.names.removeAll { $0 == name }
        peer.names.insert(name, at: 0)
        peer.names = Array(peer.names.prefix(Self.nameCapacity))
        peer.lastSeen = max(peer.lastSeen, date)
        if isAccepted { peer.isAccepted = true }
        if peers[key] == nil { makeRoom() }
        peers[key] = peer
    }

    /// Shuts a key out. - Parameter name: what it went by, for the list.
    public mutating func block(_ key: KeyFingerprint, as name: PeerName, date: Int64) {
        note(key, as: name, isAccepted: false, date: date)
        peers[key]?.isBlocked = true
        peers[key]?.isAccepted = false
    }

    /// Lets a key ask again. It is not let in by that.
    public mutating func unblock(_ key: KeyFingerprint) { peers[key]?.isBlocked = false }

    /// Knows no more of a key; its names are free. - Returns: whether it was known.
    @discardableResult
    public mutating func forget(_ key: KeyFingerprint) -> Bool { peers.removeValue(forKey: key) != nil }

    /// The keys that a person may mean: by name, or by the first digits of the fingerprint, blanks and case aside.
    public func keys(matching text: String) -> [KeyFingerprint] {
        let digits = text.lowercased().filter { !$0.isWhitespace && $0 != "-" }
        let name = try? PeerName(text).folded
        return peers.filter { key, peer in
            (digits.count >= 4 && key.hex.hasPrefix(digits)) || peer.names.contains { $0.folded == name }
        }.keys.sorted { $0.hex < $1.hex }
    }

    static let nameCapacity = 8

    private mutating func makeRoom() {
        guard peers.count >= Self.capacity else { return }
        let oldest = peers.min {
            let a = ($0.value.isAccepted || $0.value.isBlocked, $0.value.lastSeen, $0.key.hex)
            let b = ($1.value.isAccepted || $1.value.isBlocked, $1.value.lastSeen, $1.key.hex)
            return a.0 != b.0 ? !a.0 : (a.1, a.2) < (b.1, b.2)
        }
        if let oldest { peers[oldest.key] = nil }
    }
}
