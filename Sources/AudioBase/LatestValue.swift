// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Passes the newest of a stream of small values from one thread to another, wait-free on both sides.
///
/// A triple buffer: the writer and the reader each own one of three slots, and each exchanges its own slot for the third. Older
/// values are overwritten; ``MessageQueue`` passes all values.
public final class LatestValue<Value: BitwiseCopyable & Sendable>: @unchecked Sendable {  // `middle` exchanges slots
    @usableFromInline let slots: UnsafeMutablePointer<Value>
    @usableFromInline let middle: UnsafeMutablePointer<Atomic<Int>>  // the free slot's index, plus 4 if not loaded yet
    @usableFromInline let own: UnsafeMutablePointer<Int>  // the index of the writer's slot, then of the reader's

    /// - Parameter initial: the value before the first one is stored.
    public init(_ initial: Value) {
        slots = .allocate(capacity: 3)
        slots.initialize(repeating: initial, count: 3)
        middle = .allocate(capacity: 1)
        middle.initialize(to: Atomic(1))
        own = .allocate(capacity: 2)
        own[0] = 0  // the writer's slot
        own[1] = 2  // the reader's slot
    }

    deinit {
        slots.deallocate()
        middle.deinitialize(count: 1)
        middle.deallocate()
        own.deallocate()
    }

    /// The writer's handle; must not outlive this object.
    public var writer: Writer { Writer(slots: slots, middle: middle, own: own) }

    /// The handle of the writing thread.
    public struct Writer: @unchecked Sendable {
        @usableFromInline let slots: UnsafeMutablePointer<Value>
        @usableFromInline let middle: UnsafeMutablePointer<Atomic<Int>>
        @usableFromInline let own: UnsafeMutablePointer<Int>

        init(
            slots: UnsafeMutablePointer<Value>, middle: UnsafeMutablePointer<Atomic<Int>>,
            own: UnsafeMutablePointer<Int>
        ) {
            self.slots = slots
            self.middle = middle
            self.own = own
        }

        /// Stores the newest value. Safe on the render thread.
        @inlinable
        public func store(_ value: Value) {
            slots[own[0]] = value
            own[0] = middle.pointee.exchange(own[0] | 4, ordering: .acquiringAndReleasing) & 3
        }
    }

    /// Returns the newest value. Safe on the render thread; for the one reading thread.
    @inlinable
    public func load() -> Value { reader.load() }

    /// The reader's handle, for a render thread; must not outlive this object.
    @inlinable public var reader: Reader { Reader(slots: slots, middle: middle, own: own) }

    /// The handle of the reading thread.
    public struct Reader: @unchecked Sendable {
        @usableFromInline let slots: UnsafeMutablePointer<Value>
        @usableFromInline let middle: UnsafeMutablePointer<Atomic<Int>>
        @usableFromInline let own: UnsafeMutablePointer<Int>

        @usableFromInline
        init(
            slots: UnsafeMutablePointer<Value>, middle: UnsafeMutablePointer<Atomic<Int>>,
            own: UnsafeMutablePointer<Int>
        ) {
            self.slots = slots
            self.middle = middle
            self.own = own
        }

        /// Returns the newest value. Safe on the render thread.
        @inlinable
        public func load() -> Value {
            if middle.pointee.load(ordering: .relaxed) & 4 != 0 {
                own[1] = middle.pointee.exchange(own[1], ordering: .acquiringAndReleasing) & 3
            }
            return slots[own[1]]
        }
    }
}
