// SPDX-License-Identifier: Apache-2.0

/// The last requests that were authentic, so that one that somebody sends again from elsewhere is known: its
/// MESSAGE-INTEGRITY covers no address.
struct ICEReplayWindow: Sendable {
    /// Requests remembered: minutes of a peer's.
    static let capacity = 256
    /// Answers to one request at most: as many as an agent may retransmit it (RFC 8489 §6.2.1).
    static let maximumRepeats = 7

    private struct Entry: Sendable {
        let id: STUNTransactionID
        let source: SocketAddress
        var count = 1
    }
    private var entries: [Entry] = []

    init() { entries.reserveCapacity(Self.capacity) }

    var count: Int { entries.count }

    /// Returns true if the request is new, or retransmitted from where it came first and not too often.
    mutating func admits(_ id: STUNTransactionID, from source: SocketAddress) -> Bool {
        if let i = entries.firstIndex(where: { $0.id == id }) {
            entries[i].count += 1
            return entries[i].source == source && entries[i].count <= Self.maximumRepeats
        }
        if entries.count == Self.capacity { entries.removeFirst() }
        entries.append(Entry(id: id, source: source))
        return true
    }
}
