// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import NIOCore
import Synchronization

/// A byte stream to a member of the room. A write waits while the remote peer does not read.
///
/// If the stream is released without ``finish()``, the remote peer gets an error. Any task; writes are sent one after the other.
public final class OutgoingStream: Sendable {
    private let pieces: Mailbox<StreamPiece>
    private let task: Task<Void, Never>
    private let outcome: Outcome<TransferError?>
    private let isFinishing = Atomic(false)

    /// - Parameter send: sends the pieces in the mailbox, and returns when the remote peer has received all.
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

    /// Sends bytes. Returns when the network has accepted all but at most the last 64 KiB. An empty array sends nothing.
    /// - Throws: the error that ended the stream; or ``TransferError/cancelled`` if the task was cancelled: then some of the
    ///   bytes may have been sent.
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

    /// Ends the stream. Returns when the remote peer has read all of it.
    /// - Throws: the reason that the remote peer has not read it. If the task is cancelled, the stream is aborted.
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

    /// Aborts the stream: the remote peer gets an error, and pending writes ``TransferError/cancelled``.
    public func cancel() {
        pieces.fail(TransferError.cancelled)
        task.cancel()
    }
}
