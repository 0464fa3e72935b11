// SPDX-License-Identifier: Apache-2.0

import EarshotRooms
import Synchronization

/// A piece of a byte stream, or the stream's end, passed from one task to another.
enum StreamPiece: Sendable {
    case bytes([UInt8])
    case end
}

/// A byte stream from a member of the room. While the stream is not read, the sender waits; nothing accumulates.
///
/// The stream ends when the sender ends it, and throws if the connection was interrupted. When the stream is released or
/// cancelled, the sender is told. Any task; one loop at a time.
public final class IncomingStream: AsyncSequence, Sendable {
    /// The sender's name of the stream.
    public let name: PeerName
    private let pieces: Mailbox<StreamPiece>
    private let hasEnded = Atomic(false)

    init(_ name: PeerName, _ pieces: Mailbox<StreamPiece>) {
        self.name = name
        self.pieces = pieces
    }

    deinit { cancel() }

    /// Cancels the stream.
    public func cancel() { pieces.fail(TransferError.closed) }

    /// Iterates over pieces of one to some tens of thousands of bytes, as the network divided them.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let stream: IncomingStream

        /// Returns the next piece; nil at the end.
        /// - Throws: ``TransferError``, or `CancellationError`: then nothing is lost, and reading may continue.
        public mutating func next() async throws -> [UInt8]? { try await stream.next() }
    }

    /// Returns an iterator that continues after the last reader.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }

    private func next() async throws -> [UInt8]? {
        guard !hasEnded.load(ordering: .relaxed) else { return nil }
        guard case .bytes(let bytes)? = try await pieces.next() else {
            hasEnded.store(true, ordering: .relaxed)
            return nil
        }
        return bytes
    }
}
