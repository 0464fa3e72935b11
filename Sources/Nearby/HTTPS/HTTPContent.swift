// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import Synchronization

/// The content of a message, after its head.
enum HTTPContent: Sendable {
    /// The complete bytes of the content.
    case bytes([UInt8])
    /// Bytes that are written over time. The content ends when the closure returns; if it throws, the connection is aborted, so
    /// that the peer does not mistake the part for the whole content.
    case stream(@Sendable (HTTPContentWriter) async throws -> Void)

    static let none = HTTPContent.bytes([])

    static func text(_ text: String) -> HTTPContent { .bytes(Array(text.utf8)) }

    /// The maximum bytes of one write. The next write waits until the kernel has accepted the previous one.
    static let pieceSize = 65_536
}

/// Writes a stream's bytes. Each call returns when the kernel has accepted them: a slow reader slows the writer down.
final class HTTPContentWriter: Sendable {
    private let isOver = Atomic(false)
    private let put: @Sendable (ByteBuffer) async throws -> Void

    init(_ put: @escaping @Sendable (ByteBuffer) async throws -> Void) { self.put = put }

    func write(_ bytes: ByteBuffer) async throws {
        var rest = bytes
        while rest.readableBytes > 0 {
            let piece = rest.readSlice(length: min(rest.readableBytes, HTTPContent.pieceSize))
            guard !isOver.load(ordering: .relaxed) else { throw HTTPBodyError.over }
            if let piece { try await put(piece) }
        }
    }

    func write(_ bytes: some Sequence<UInt8> & Sendable) async throws { try await write(ByteBuffer(bytes: bytes)) }

    /// Makes later writes throw.
    func finish() { isOver.store(true, ordering: .relaxed) }
}

extension HTTPConnection {
    /// Sends a whole message.
    /// - Parameter limit: the time for the kernel to accept each 64 KiB.
    func send(_ head: OutboundHead, _ content: HTTPContent, within limit: Duration?) async throws {
        switch content {
        case .bytes(let bytes) where bytes.isEmpty: try await write([.head(head), .end(nil)], within: limit)
        case .bytes(let bytes) where bytes.count <= HTTPContent.pieceSize:
            try await write([.head(head), .body(ByteBuffer(bytes: bytes)), .end(nil)], within: limit)
        case .bytes(let bytes):
            try await stream(head, within: limit) { try await $0.write(bytes) }
        case .stream(let produce):
            try await stream(head, within: limit, produce)
        }
    }

    private func stream(
        _ head: OutboundHead, within limit: Duration?, _ produce: @Sendable (HTTPContentWriter) async throws -> Void
    ) async throws {
        try await write([.head(head)], within: limit)
        let writer = HTTPContentWriter { try await self.write([.body($0)], within: limit) }
        defer { writer.finish() }
        do {
            try await produce(writer)
        } catch {
            abort(ConnectionFailure.closed)
            throw error
        }
        try await write([.end(nil)], within: limit)
    }
}
