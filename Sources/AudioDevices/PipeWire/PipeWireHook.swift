// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire

/// A listener's memory, to which libpipewire keeps pointers until the listener is removed.
final class PipeWireHook<Events> {
    let hook = UnsafeMutablePointer<spa_hook>.allocate(capacity: 1)
    let events = UnsafeMutablePointer<Events>.allocate(capacity: 1)
    private var isRemoved = false

    init(_ events: Events) {
        hook.initialize(to: spa_hook())
        self.events.initialize(to: events)
    }

    deinit {
        hook.deallocate()
        events.deallocate()
    }

    /// Removes the listener. Call it before the observed object is destroyed. A second call does nothing.
    func remove() {
        guard !isRemoved else { return }
        isRemoved = true
        spa_hook_remove(hook)
    }
}
