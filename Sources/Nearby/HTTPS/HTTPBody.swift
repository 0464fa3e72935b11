// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import Synchronization

/// The body of a received message, in the pieces that the network delivers. It can be read once, by one task at a time.
///
/// A piece is read on demand, so a reader that stops asking stops the sender. After the handler returns, reading throws.
struct HTTPBody: AsyncSequence, Sendable {
    /// The size of the body in bytes; nil if the sender did not declare it.
    let length: Int?
    private let reader: HTTPBodyReader
    private let timeout: Duration?

    /// - Parameter timeout: the limit for all of ``collect(upTo:)``.
    init(length: Int?, reader: HTTPBodyReader, timeout: Duration?) {
        self.length = length
        self.reader = reader
        self.timeout = timeout
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reader: HTTPBodyReader

        mutating func next() async throws -> ByteBuffer? { try await reader.next(by: nil) }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader) }

    /// Returns the whole body.
    /// - Throws: ``HTTPBodyError/tooLarge(_:)`` as soon as the body is known to exceed `limit` bytes.
    func collect(upTo limit: Int) async throws -> [UInt8] {
        if let length, length > limit { throw HTTPBodyError.tooLarge(limit) }
        let deadline = timeout.map { ContinuousClock.now + $0 }
        var bytes: [UInt8] = []
        while let piece = try await reader.next(by: deadline) {
            guard bytes.count + piece.readableBytes <= limit else { throw HTTPBodyError.tooLarge(limit) }
            bytes.append(contentsOf: piece.readableBytesView)
        }
        return bytes
    }
}

enum HTTPBodyError: Error, Hashable {
    /// The body exceeds this number of bytes.
    case tooLarge(Int)
    /// The request has ended, so that its body can be neither read nor written.
    case over
}

/// Reads one body, after the head of its message.
final class HTTPBodyReader: Sendable {
    private enum State { case fresh, reading, ended, over }
    private let state = Mutex(State.fresh)
    private let begin: @Sendable () async throws -> Void
    private let receivePiece: @Sendable (Duration?) async throws -> ByteBuffer?

    /// - Parameter begin: called before the first piece is requested.
    init<InboundHead, OutboundHead>(
        _ connection: HTTPConnection<InboundHead, OutboundHead>,
        begin: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.begin = begin
        receivePiece = { limit in
            switch try await connection.next(within: limit) {
            case .body(let bytes): return bytes
            case .end: return nil
            case .head: preconditionFailure("a head within a body")
            }
        }
    }

    /// Returns the next piece; nil at the end.
    func next(by deadline: ContinuousClock.Instant?) async throws -> ByteBuffer? {
        switch state.withLock({ $0 }) {
        case .ended: return nil
        case .over: throw HTTPBodyError.over
        case .reading: break
        case .fresh:
            state.withLock { $0 = .reading }
            try await begin()
        }
        let bytes = try await receivePiece(deadline.map { max(.zero, $0 - .now) })
        if bytes == nil { state.withLock { $0 = .ended } }
        return bytes
    }

    /// Makes later reads throw ``HTTPBodyError/over``.
    func finish() { state.withLock { $0 = .over } }
}
