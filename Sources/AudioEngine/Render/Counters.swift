// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counters that one thread increments and any thread reads.
final class Counters: Sendable {
    /// The render thread's handle; valid as long as the counters live.
    struct Handle: @unchecked Sendable, BitwiseCopyable {  // atomics
        fileprivate let values: UnsafeMutablePointer<Atomic<Int>>

        @_noLocks
        func add(_ amount: Int, to index: Int = 0) {
            if amount != 0 { values[index].add(amount, ordering: .relaxed) }
        }

        /// Returns the value of a counter that another thread changes.
        @_noLocks
        func load(_ index: Int = 0) -> Int { values[index].load(ordering: .relaxed) }
    }

    let handle: Handle
    private let count: Int

    init(_ count: Int = 1) {
        self.count = count
        handle = Handle(values: .allocate(capacity: count))
        for i in 0..<count { (handle.values + i).initialize(to: Atomic(0)) }
    }

    deinit {
        handle.values.deinitialize(count: count)
        handle.values.deallocate()
    }

    subscript(index: Int) -> Int { handle.values[index].load(ordering: .relaxed) }
}
