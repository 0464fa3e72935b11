// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The receivers of a queue's events: streams and one handler.
struct QueueListeners: ~Copyable, Sendable {
    private let broadcast = Broadcast<AudioQueueEvent>()
    private let handler = LockedValue<(@Sendable (AudioQueueEvent) -> Void)?>(nil)

    /// The events from now on. For a slow reader the newest 256 are kept.
    var events: AsyncStream<AudioQueueEvent> { broadcast.stream(keeping: 256) }

    func setHandler(_ handler: (@Sendable (AudioQueueEvent) -> Void)?) { self.handler.withLock { $0 = handler } }

    func send(_ event: AudioQueueEvent) {
        broadcast.send(event)
        handler.withLock { $0 }?(event)
    }
}
