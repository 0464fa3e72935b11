// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A queue of plain records from one writing to one reading thread, wait-free on both sides.
///
/// A full queue drops and counts new records.
public final class MessageQueue<Element: BitwiseCopyable & Sendable>: Sendable {
    /// The writer's handle; must not outlive the queue.
    public let writer: Writer

    /// - Parameter capacity: the maximum number of records, rounded up to a power of two; at least 2.
    public init(capacity: Int) {
        writer = Writer(capacity: max(2, 1 << (Int.bitWidth - (capacity - 1).leadingZeroBitCount)))
    }

    deinit { writer.deallocate() }

    /// The handle of the writing thread.
    public struct Writer: @unchecked Sendable {  // one thread stores `head`, the other `tail`
        @usableFromInline let elements: UnsafeMutablePointer<Element>
        @usableFromInline let head: UnsafeMutablePointer<Atomic<Int>>  // records ever pushed
        @usableFromInline let tail: UnsafeMutablePointer<Atomic<Int>>  // records ever popped
        @usableFromInline let dropped: UnsafeMutablePointer<Atomic<Int>>
        @usableFromInline let capacity: Int

        init(capacity: Int) {
            self.capacity = capacity
            elements = .allocate(capacity: capacity)
            head = .allocate(capacity: 33)  // three counters, each on a cache line of its own
            tail = head + 16
            dropped = head + 32
            for counter in [head, tail, dropped] { counter.initialize(to: Atomic(0)) }
        }

        func deallocate() {
            elements.deallocate()
            for counter in [head, tail, dropped] { counter.deinitialize(count: 1) }
            head.deallocate()
        }

        /// Appends a record. If the queue is full, drops and counts the record, and returns false. Safe on the render thread.
        @inlinable @discardableResult
        public func push(_ element: Element) -> Bool {
            let pushedCount = head.pointee.load(ordering: .relaxed)
            guard pushedCount &- tail.pointee.load(ordering: .acquiring) < capacity else {
                dropped.pointee.store(dropped.pointee.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
                return false
            }
            elements[pushedCount & (capacity &- 1)] = element
            head.pointee.store(pushedCount &+ 1, ordering: .releasing)
            return true
        }
    }

    /// Removes and returns the oldest record; nil if there is none. For the one reading thread.
    @inlinable
    public func pop() -> Element? { reader.pop() }

    /// The reader's handle, for a render thread; must not outlive the queue.
    @inlinable public var reader: Reader { Reader(writer) }

    /// The handle of the reading thread.
    public struct Reader: @unchecked Sendable {  // only the reading thread stores `tail`
        @usableFromInline let queue: Writer

        @usableFromInline
        init(_ queue: Writer) { self.queue = queue }

        /// Removes and returns the oldest record; nil if there is none. Safe on the render thread.
        @inlinable
        public func pop() -> Element? {
            let poppedCount = queue.tail.pointee.load(ordering: .relaxed)
            guard poppedCount != queue.head.pointee.load(ordering: .acquiring) else { return nil }
            let element = queue.elements[poppedCount & (queue.capacity &- 1)]
            queue.tail.pointee.store(poppedCount &+ 1, ordering: .releasing)
            return element
        }
    }

    /// The number of records dropped because the queue was full. Safe on any thread.
    public var droppedCount: Int { writer.dropped.pointee.load(ordering: .relaxed) }
}
