// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The stream of events to a member. Bounded: a member that does not read loses the stream, and gets the missed events by a new
/// one.
final class EventStreamWriter: Sendable {
    /// The maximum bytes that wait to be sent.
    static let capacity = 256 * 1024

    let bytes: AsyncStream<[UInt8]>
    private let continuation: AsyncStream<[UInt8]>.Continuation
    private let unsent = Mutex(0)  // bytes that wait to be sent
    private let overflow: @Sendable () -> Void

    /// - Parameter overflow: called once when too many bytes wait.
    init(overflow: @escaping @Sendable () -> Void) {
        (bytes, continuation) = AsyncStream.makeStream()
        self.overflow = overflow
    }

    func send(_ piece: [UInt8]) {
        let isFull = unsent.withLock { count in
            let isFull = count <= Self.capacity && count + piece.count > Self.capacity
            count += piece.count
            return isFull
        }
        if isFull {
            continuation.finish()
            overflow()
        } else {
            continuation.yield(piece)
        }
    }

    func sent(_ count: Int) { unsent.withLock { $0 -= count } }

    /// Ends the stream; waiting events are still sent.
    func finish() { continuation.finish() }

    /// Returns when no bytes wait, or at `end`.
    func drained(by end: ContinuousClock.Instant) async {
        while unsent.withLock({ $0 > 0 }), ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(5)) }
    }
}
