// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import NIOHTTP1
import Synchronization

/// Drops what has come before: remembers the last message of each sender. One at a time of each is on its way to the
/// application, the newest request for it.
final class MessageInbox: Sendable {
    /// Senders, and earlier processes of each, that are remembered.
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

    /// A new epoch begins with its first message, and is not left again.
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
