// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// A connection of either side, for tasks: parts come when they are asked for, and are gone when the kernel has taken them.
///
/// A task that is cancelled in one of these calls aborts the connection.
final class HTTPConnection<InboundHead: Equatable & Sendable, OutboundHead: Equatable & Sendable>: Sendable {
    typealias Inbound = HTTPPart<InboundHead, ByteBuffer>
    typealias Outbound = HTTPPart<OutboundHead, ByteBuffer>

    let channel: any Channel
    private let handler: NIOLoopBound<PartHandler<InboundHead>>
    private var loop: any EventLoop { channel.eventLoop }

    /// Becomes the last handler. On the event loop.
    init(on channel: any Channel) throws {
        self.channel = channel
        handler = NIOLoopBound(PartHandler(), eventLoop: channel.eventLoop)
        try channel.pipeline.syncOperations.addHandler(handler.value)
    }

    /// The peer's public key once TLS is up, as SPKI in DER. At once after ``init(on:)``, by a client.
    func handshake(within limit: Duration) async throws -> [UInt8]? {
        try await abortingWhenCancelled {
            try await self.loop.flatSubmit {
                self.handler.value.handshake(within: TimeAmount(limit), on: self.loop)
            }.get()
        }
    }

    /// The next part, in its order. One task at a time.
    func next(within limit: Duration?, onceBegun: Duration? = nil) async throws -> Inbound {
        try await abortingWhenCancelled {
            try await self.loop.flatSubmit {
                self.handler.value.next(
                    within: limit.map { TimeAmount($0) }, onceBegun: onceBegun.map { TimeAmount($0) }, on: self.loop)
            }.get()
        }
    }

    /// The peer's public key; nil if it has shown none.
    func peerKey() async -> [UInt8]? { try? await loop.submit { self.handler.value.peerKey }.get() }

    /// Sends parts together.
    /// - Parameter limit: for the kernel to take them; then the connection is cut.
    func write(_ parts: [Outbound], within limit: Duration?) async throws {
        try await abortingWhenCancelled {
            try await self.loop.flatSubmit { self.write(parts, within: limit.map { TimeAmount($0) }) }.get()
        }
    }

    private func write(_ parts: [Outbound], within limit: TimeAmount?) -> EventLoopFuture<Void> {
        let handler = handler.value
        let written = loop.makePromise(of: Void.self)
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            channel.pipeline.syncOperations.write(Self.forNIO(part), promise: isLast ? written : nil)
        }
        handler.isOutboundWhole = false
        channel.pipeline.syncOperations.flush()
        let timer = limit.map { loop.scheduleTask(in: $0) { self.abort(ConnectionFailure.timedOut) } }
        return written.futureResult.assumeIsolated().flatMapThrowing {
            if case .end? = parts.last { handler.isOutboundWhole = true }
        }.flatMapErrorThrowing { throw handler.failure ?? $0 }.nonisolated().always { _ in timer?.cancel() }
    }

    private static func forNIO(_ part: Outbound) -> NIOAny {
        switch part {
        case .head(let head): NIOAny(HTTPPart<OutboundHead, IOData>.head(head))
        case .body(let bytes): NIOAny(HTTPPart<OutboundHead, IOData>.body(.byteBuffer(bytes)))
        case .end(let trailers): NIOAny(HTTPPart<OutboundHead, IOData>.end(trailers))
        }
    }

    /// Returns true if the message that is being read is here as a whole.
    func isInboundWhole() async -> Bool {
        (try? await loop.submit { self.handler.value.isInboundWhole }.get()) ?? false
    }

    /// Throws away the rest of the message that is being read, of which the peer may still send `limit` bytes.
    /// - Returns: true if its end was found.
    func skipMessage(upTo limit: Int, within time: Duration) async throws -> Bool {
        if try await loop.submit({ self.handler.value.skipMessage() }).get() { return true }
        let deadline = ContinuousClock.now + time
        var rest = limit
        while rest > 0 {
            switch try await next(within: max(.zero, deadline - .now)) {
            case .head: return false
            case .body(let bytes): rest -= bytes.readableBytes
            case .end: return true
            }
        }
        return false
    }

    /// Returns true if it can carry one more request.
    func isReady() async -> Bool {
        (try? await loop.submit { self.channel.isActive && self.handler.value.isReady }.get()) ?? false
    }

    /// Waits until it is closed; a task that is cancelled meanwhile closes it, which takes TLS a quarter of a second at most.
    func closed() async {
        await withTaskCancellationHandler {
            try? await channel.closeFuture.get()
        } onCancel: {
            channel.close(promise: nil)
        }
    }

    /// Fails its waiters with `reason`.
    func fail(_ reason: any Error) { loop.execute { self.handler.value.fail(reason) } }

    /// Aborts the connection: pending operations throw `reason` at once.
    func abort(_ reason: any Error) {
        loop.execute {
            self.handler.value.fail(reason)
            self.channel.close(promise: nil)
        }
    }

    private func abortingWhenCancelled<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws
        -> Result
    {
        try await withTaskCancellationHandler(operation: body) { abort(CancellationError()) }
    }
}

typealias ServerConnection = HTTPConnection<HTTPRequestHead, HTTPResponseHead>
typealias ClientConnection = HTTPConnection<HTTPResponseHead, HTTPRequestHead>
