// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import NIOHTTP1
import Synchronization

/// Drops repeated messages: it remembers the last message of each sender. One message of each sender is being delivered at a
/// time, for its newest request.
final class MessageInbox: Sendable {
    /// The number of senders and processes that are remembered.
    private static let memory = 64
    private static let pastEpochs = 8

    private struct Sender {
        let latest = Latest()
        var epoch: UInt64?
        var last: UInt64 = 0
        var past: [UInt64] = []
    }
    private struct State {
        var senders: [KeyFingerprint: Sender] = [:]
        var order: [KeyFingerprint] = []
    }
    private enum Verdict { case new, known, replaced }
    private let state = Mutex(State())

    /// Calls `deliver` unless a message with this number was delivered before; rethrows its error.
    func receive(
        _ number: TransferNumber, from key: KeyFingerprint, _ deliver: @escaping @Sendable () async throws -> Void
    ) async throws {
        let latest = state.withLock { state in
            if let sender = state.senders[key] { return sender.latest }
            if state.order.count == Self.memory { state.senders[state.order.removeFirst()] = nil }
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
            self.state.withLock { $0.senders[key]?.last = number.number }
        }
    }

    /// Returns the verdict on a number. A sender's new process begins with its first message; the previous one's are dropped from
    /// then on.
    private func judge(_ number: TransferNumber, from key: KeyFingerprint) -> Verdict {
        state.withLock { state in
            guard var sender = state.senders[key] else { return .new }
            if sender.past.contains(number.epoch) { return .replaced }
            if sender.epoch == number.epoch { return number.number > sender.last ? .new : .known }
            if let old = sender.epoch { sender.past = Array((sender.past + [old]).suffix(Self.pastEpochs)) }
            (sender.epoch, sender.last) = (number.epoch, 0)
            state.senders[key] = sender
            return .new
        }
    }
}
