// SPDX-License-Identifier: Apache-2.0

import EarshotRooms

/// Requests of other peers that are not answered yet, and open event streams.
struct IncomingRequests {
    private var continuations: [RequestID: CheckedContinuation<RoomReply, Never>] = [:]
    private(set) var feeds: [RequestID: EventStreamWriter] = [:]
    private var nextNumber: UInt64 = 1

    /// Returns the number of a new request.
    mutating func makeID() -> RequestID {
        defer { nextNumber += 1 }
        return RequestID(nextNumber)
    }

    /// Adds a request to answer.
    mutating func add(_ continuation: CheckedContinuation<RoomReply, Never>, for id: RequestID) {
        continuations[id] = continuation
    }

    /// Answers a request, unless it was answered or its connection was lost.
    /// - Parameter overflow: called if the answer is an event stream whose reader is too slow.
    mutating func answer(_ id: RequestID, _ reply: RoomReply, overflow: @escaping @Sendable () -> Void) {
        guard let continuation = continuations.removeValue(forKey: id) else { return }
        if reply == .events { feeds[id] = EventStreamWriter(overflow: overflow) }
        continuation.resume(returning: reply)
    }

    /// Removes a request whose connection was lost, and its event stream.
    /// - Returns: false if there was no such request or stream.
    mutating func lose(_ id: RequestID) -> Bool {
        let feed = feeds.removeValue(forKey: id)
        feed?.finish()
        let continuation = continuations.removeValue(forKey: id)
        continuation?.resume(returning: .refused(.cancelled))
        return feed != nil || continuation != nil
    }
}
