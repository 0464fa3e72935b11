// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The stream of events to a member. Bounded: who does not read loses the stream, and gets what it missed by another.
final class EventStreamWriter: Sendable {
    /// Bytes that wait at most.
    static let capacity = 256 * 1024

    let bytes: AsyncStream<[UInt8]>
    private let continuation: AsyncStream<[UInt8]>.Continuation
    private let waiting = Mutex(0)
    private let overflow: @Sendable () -> Void

    /// - Parameter overflow: called once, where more waits than there may.
    init(overflow: @escaping @Sendable () -> Void) {
        (bytes, continuation) = AsyncStream.makeStream()
        self.overflow = overflow
    }

    func send(_ piece: [UInt8]) {
        let isFull = waiting.withLock { count in
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

    func sent(_ count: Int) { waiting.withLock { $0 -= count } }

    /// Ends the stream; waiting events are still sent.
    func finish() { continuation.finish() }

    /// Returns when nothing waits any more, or at `end`.
    func drained(by end: ContinuousClock.Instant) async {
        while waiting.withLock({ $0 > 0 }), ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(5)) }
    }
}
