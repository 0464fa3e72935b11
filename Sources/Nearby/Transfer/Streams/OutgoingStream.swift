// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import NIOCore
import Synchronization

/// A byte stream to a member of the room. A write waits while the remote peer does not read.
///
/// Let go of without ``finish()`` it is cut, which the remote peer sees as an error. Any task; writes are put in a row.
public final class OutgoingStream: Sendable {
    private let pieces: Mailbox<StreamPiece>
    private let task: Task<Void, Never>
    private let outcome: Outcome<TransferError?>
    private let isFinishing = Atomic(false)

    /// - Parameter send: sends what it takes out of the mailbox, and returns when the remote peer has had all.
    init(_ pieces: Mailbox<StreamPiece>, _ send: @escaping @Sendable () async throws -> Void) {
        let outcome = Outcome<TransferError?>()
        self.pieces = pieces
        self.outcome = outcome
        task = Task {
            var error: TransferError?
            do { try await send() } catch let failure { error = TransferError(failure) }
            outcome.set(error)
            pieces.fail(error ?? TransferError.closed)
        }
    }

    deinit { cancel() }

    /// Hands bytes to the network; it returns when all are on their way. Nothing is sent for an empty array.
    /// - Throws: why the stream is no more; or ``TransferError/cancelled``, if the task was: then some of them may have gone.
    public func write(_ bytes: [UInt8]) async throws(TransferError) {
        var start = 0
        while start < bytes.count {
            guard !isFinishing.load(ordering: .relaxed) else { throw .closed }
            let end = min(start + HTTPContent.pieceSize, bytes.count)
            do {
                try await pieces.send(.bytes(start == 0 && end == bytes.count ? bytes : Array(bytes[start..<end])))
            } catch {
                throw TransferError(error)
            }
            start = end
        }
    }

    /// Ends it; it returns when the remote peer has read all of it.
    /// - Throws: why it has not; ``TransferError/cancelled`` cuts the stream.
    public func finish() async throws(TransferError) {
        isFinishing.store(true, ordering: .relaxed)
        do {
            try await withTaskCancellationHandler {
                try? await self.pieces.send(.end)
                if let error = try await self.outcome.get() { throw error }
            } onCancel: {
                self.cancel()
            }
        } catch {
            throw TransferError(error)
        }
    }

    /// Cuts it: the remote peer gets an error, and writers here ``TransferError/cancelled``.
    public func cancel() {
        pieces.fail(TransferError.cancelled)
        task.cancel()
    }
}
