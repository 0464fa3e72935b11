// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import NIOHTTP1
import Synchronization

/// Drops repeated messages: it remembers the number of each sender's last message. A sender's newest request cancels the previous
/// one.
final class MessageInbox: Sendable {
    /// The number of senders that are remembered.
    private static let senderCapacity = 64
    private static let oldEpochCapacity = 8  // remembered of each sender

    private struct Sender {
        let latest = Latest()
        var epoch: UInt64?
        var lastNumber: UInt64 = 0
        var oldEpochs: [UInt64] = []
    }
    private struct State {
        var senders: [KeyFingerprint: Sender] = [:]
        var order: [KeyFingerprint] = []
    }
    private enum Verdict { case new, known, replaced }
    private let state = Mutex(State())

    /// Calls `deliver`, and rethrows its error, unless a message with this number was delivered before. Refuses a message of a
    /// sender's previous process.
    func receive(
        _ number: TransferNumber, from key: KeyFingerprint, _ deliver: @escaping @Sendable () async throws -> Void
    ) async throws {
        let latest = state.withLock { state in
            if let sender = state.senders[key] { return sender.latest }
            if state.order.count == Self.senderCapacity { state.senders[state.order.removeFirst()] = nil }
            let sender = Sender()
            state.senders[key] = sender
            state.order.append(key)
            return sender.latest
        }
        try await latest.run {
            switch self.judge(number, from: key) {
            case .known: return
            case .replaced:
                throw HTTPProblem(status: .conflict, code: "replaced", message: "another process has taken your place")
            case .new: break
            }
            try await deliver()
            self.state.withLock { $0.senders[key]?.lastNumber = number.number }
        }
    }

    /// Returns the verdict on a message's number. The first message of a sender's new process replaces the previous process,
    /// whose messages are refused from then on.
    private func judge(_ number: TransferNumber, from key: KeyFingerprint) -> Verdict {
        state.withLock { state in
            guard var sender = state.senders[key] else { return .new }
            if sender.oldEpochs.contains(number.epoch) { return .replaced }
            if sender.epoch == number.epoch { return number.number > sender.lastNumber ? .new : .known }
            if let old = sender.epoch {
                sender.oldEpochs = Array((sender.oldEpochs + [old]).suffix(Self.oldEpochCapacity))
            }
            (sender.epoch, sender.lastNumber) = (number.epoch, 0)
            state.senders[key] = sender
            return .new
        }
    }
}
