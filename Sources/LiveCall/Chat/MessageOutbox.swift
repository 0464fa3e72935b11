// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotRooms

/// The messages for one participant, delivered in order. A slow participant does not delay the others for long.
///
/// Members are for any thread.
package final class MessageOutbox: Sendable {
    private struct State {
        var messages: [String] = []
        /// The lost messages that were not reported yet.
        var lostCount = 0
        /// The time at which the current delivery began; nil without one.
        var deliveryStart: ContinuousClock.Instant?
    }

    /// The maximum messages that wait behind the one in delivery.
    package static let capacity = 16
    /// The maximum time, from the start of a delivery, that a sender should wait for a full outbox.
    package static let fullTimeout = Duration.seconds(5)

    private let state = LockedValue(State())
    /// Delivers a message. Returns the reason that it did not arrive; nil if it did.
    private let send: @Sendable (String) async -> String?
    /// Called with the number of lost messages and the reason.
    private let reportLoss: @Sendable (_ count: Int, _ reason: String) async -> Void
    /// Called after each successful delivery, and when the outbox is empty.
    private let onDelivery: @Sendable () -> Void

    package init(
        send: @escaping @Sendable (String) async -> String?,
        reportLoss: @escaping @Sendable (_ count: Int, _ reason: String) async -> Void,
        onDelivery: @escaping @Sendable () -> Void = {}
    ) {
        self.send = send
        self.reportLoss = reportLoss
        self.onDelivery = onDelivery
    }

    /// Messages in delivery or waiting for it.
    package var count: Int { state.withLock { $0.messages.count + ($0.deliveryStart == nil ? 0 : 1) } }

    /// Returns true if a sender should wait for space.
    package func isFull(at now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { state in
            guard let deliveryStart = state.deliveryStart, state.messages.count >= Self.capacity else { return false }
            return now - deliveryStart < Self.fullTimeout
        }
    }

    /// Enqueues a message. A full outbox drops the message and reports the loss after the current delivery.
    package func enqueue(_ message: String) {
        let isFirst = state.withLock { state -> Bool in
            guard state.messages.count < Self.capacity else {
                state.lostCount += 1
                return false
            }
            state.messages.append(message)
            guard state.deliveryStart == nil else { return false }
            state.deliveryStart = .now
            return true
        }
        if isFirst { Task { await self.drain() } }
    }

    private func drain() async {
        while let message = dequeue() {
            guard let reason = await send(message) else {
                await reportLosses("too many messages were waiting")
                onDelivery()
                continue
            }
            // The waiting messages are dropped, since each of them would take as long to fail.
            state.withLock { state in
                state.lostCount += 1 + state.messages.count
                state.messages = []
            }
            await reportLosses(reason)
        }
        onDelivery()
    }

    private func dequeue() -> String? {
        state.withLock { state in
            guard !state.messages.isEmpty else {
                state.deliveryStart = nil
                return nil
            }
            state.deliveryStart = .now
            return state.messages.removeFirst()
        }
    }

    private func reportLosses(_ reason: String) async {
        let count = state.withLock { state in
            defer { state.lostCount = 0 }
            return state.lostCount
        }
        if count > 0 { await reportLoss(count, reason) }
    }
}
