// SPDX-License-Identifier: Apache-2.0

/// The last authentic requests, to recognize one that a third party sends again: MESSAGE-INTEGRITY does not cover the source
/// address.
struct ICEReplayWindow: Sendable {
    /// The maximum stored requests: those that a peer sends in some minutes.
    static let capacity = 256
    /// The maximum answers to one request: an agent may send it as often (RFC 8489 §6.2.1).
    static let maximumRepeats = 7

    private struct Entry: Sendable {
        let id: STUNTransactionID
        let source: SocketAddress
        var count = 1
    }
    private var entries: [Entry] = []

    init() { entries.reserveCapacity(Self.capacity) }

    var count: Int { entries.count }

    /// Returns true if the request is new, or repeated from the same source as at first and not too often.
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
