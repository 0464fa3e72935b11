// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// A connection of a client or a server, for tasks: parts of messages are received on demand, and a write returns when the kernel
/// has accepted it.
///
/// A task that is cancelled in a call aborts the connection.
final class HTTPConnection<InboundHead: Equatable & Sendable, OutboundHead: Equatable & Sendable>: Sendable {
    typealias Inbound = HTTPPart<InboundHead, ByteBuffer>
    typealias Outbound = HTTPPart<OutboundHead, ByteBuffer>

    let channel: any Channel
    private let handler: NIOLoopBound<PartHandler<InboundHead>>
    private var loop: any EventLoop { channel.eventLoop }

    /// Adds the last handler of the channel. Runs on the channel's event loop.
    init(on channel: any Channel) throws {
        self.channel = channel
        handler = NIOLoopBound(PartHandler(), eventLoop: channel.eventLoop)
        try channel.pipeline.syncOperations.addHandler(handler.value)
    }

    /// Returns the peer's public key, as SPKI in DER, once TLS is established; nil if the peer has presented none. A client calls
    /// this method right after ``init(on:)``.
    func handshake(within limit: Duration) async throws -> [UInt8]? {
        try await abortingWhenCancelled {
            try await self.loop.flatSubmit {
                self.handler.value.handshake(within: TimeAmount(limit), on: self.loop)
            }.get()
        }
    }

    /// Returns the next part of the received messages, in order. For one task at a time.
    func next(within limit: Duration?, onceBegun: Duration? = nil) async throws -> Inbound {
        try await abortingWhenCancelled {
            try await self.loop.flatSubmit {
                self.handler.value.next(
                    within: limit.map { TimeAmount($0) }, onceBegun: onceBegun.map { TimeAmount($0) }, on: self.loop)
            }.get()
        }
    }

    /// Returns the peer's public key; nil if it has presented none.
    func peerKey() async -> [UInt8]? { try? await loop.submit { self.handler.value.peerKey }.get() }

    /// Sends parts together.
    /// - Parameter limit: the maximum time until the kernel has accepted the parts; then the connection is aborted.
    func write(_ parts: [Outbound], within limit: Duration?) async throws {
        try await abortingWhenCancelled {
            try await self.loop.flatSubmit { self.write(parts, within: limit.map { TimeAmount($0) }) }.get()
        }
    }

    private func write(_ parts: [Outbound], within limit: TimeAmount?) -> EventLoopFuture<Void> {
        let handler = handler.value
        let writePromise = loop.makePromise(of: Void.self)
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            channel.pipeline.syncOperations.write(Self.forNIO(part), promise: isLast ? writePromise : nil)
        }
        handler.isOutboundWhole = false
        channel.pipeline.syncOperations.flush()
        let timer = limit.map { loop.scheduleTask(in: $0) { self.abort(ConnectionFailure.timedOut) } }
        return writePromise.futureResult.assumeIsolated().flatMapThrowing {
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

    /// Returns true if the current message was received completely.
    func isInboundWhole() async -> Bool {
        (try? await loop.submit { self.handler.value.isInboundWhole }.get()) ?? false
    }

    /// Discards the remainder of the current message, at most `limit` bytes.
    /// - Returns: true if the end of the message was found.
    func skipMessage(upTo limit: Int, within time: Duration) async throws -> Bool {
        if try await loop.submit({ self.handler.value.skipMessage() }).get() { return true }
        let deadline = ContinuousClock.now + time
        var remainingBytes = limit
        while remainingBytes > 0 {
            switch try await next(within: max(.zero, deadline - .now)) {
            case .head: return false
            case .body(let bytes): remainingBytes -= bytes.readableBytes
            case .end: return true
            }
        }
        return false
    }

    /// Returns true if the connection can be used for another request.
    func isReady() async -> Bool {
        (try? await loop.submit { self.channel.isActive && self.handler.value.isReady }.get()) ?? false
    }

    /// Waits until the connection is closed. If the task is cancelled, closes the connection, which takes TLS at most a quarter
    /// of a second.
    func closed() async {
        await withTaskCancellationHandler {
            try? await channel.closeFuture.get()
        } onCancel: {
            channel.close(promise: nil)
        }
    }

    /// Makes pending operations throw `reason`.
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
