// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import Synchronization

/// A `Mutex` for which the thread sanitizer reports no false races; the sanitizer does not know Swift's `Mutex`.
///
/// For threads that may wait; never on a render thread.
package struct LockedValue<Value: ~Copyable>: ~Copyable, @unchecked Sendable {  // the mutex guards `Value`
    private let mutex: Mutex<Value>
    private let mark = Mark()

    /// An object whose address identifies the lock for the sanitizer.
    private final class Mark: Sendable {}

    /// Creates a lock that guards a value.
    package init(_ value: consuming sending Value) { mutex = Mutex(value) }

    /// Calls `body` with exclusive access to the value.
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let mark = Unmanaged.passUnretained(mark).toOpaque()
        return try mutex.withLock { value throws(Failure) in
            earshot_lock_taken(mark)
            defer { earshot_lock_given_back(mark) }
            return try body(&value)
        }
    }
}
