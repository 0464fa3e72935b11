// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Those that a queue tells what happens, in order.
struct QueueListeners: ~Copyable, Sendable {
    private let broadcast = Broadcast<AudioQueueEvent>()
    private let handler = LockedValue<(@Sendable (AudioQueueEvent) -> Void)?>(nil)

    /// The events from now on; the newest 256 are kept for a slow reader.
    var events: AsyncStream<AudioQueueEvent> { broadcast.stream(keeping: 256) }

    func setHandler(_ handler: (@Sendable (AudioQueueEvent) -> Void)?) { self.handler.withLock { $0 = handler } }

    func send(_ event: AudioQueueEvent) {
        broadcast.send(event)
        handler.withLock { $0 }?(event)
    }
}
