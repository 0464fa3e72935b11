// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// A value that one thread sets and any thread reads or follows.
final class CurrentValue<Value: Equatable & Sendable>: Sendable {
    private let value: Mutex<Value>
    private let broadcast = Broadcast<Value>()

    init(_ value: Value) { self.value = Mutex(value) }

    var current: Value { value.withLock { $0 } }

    /// Sets the value, and sends it to the listeners if it differs from the previous one.
    func set(_ new: Value) {
        value.withLock { value in
            guard new != value else { return }
            value = new
            broadcast.send(new)
        }
    }

    /// Returns a stream of the current value and later ones.
    /// - Parameter newest: the number of values kept for a slow reader; nil for all.
    func stream(keeping newest: Int? = nil) -> AsyncStream<Value> {
        value.withLock { broadcast.stream(keeping: newest, startingWith: $0) }
    }
}
