// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOTLS

/// The last handler of a connection: passes on the parts of messages one by one, and lets the channel read only while a reader
/// waits. So it stores at most what one read has decoded, and a slow reader slows the peer down, through TCP.
///
/// Only on the channel's event loop.
final class PartHandler<Head: Equatable & Sendable>: ChannelInboundHandler {
    typealias Part = HTTPPart<Head, ByteBuffer>
    typealias InboundIn = Part

    /// The first reason that nothing more arrives; nil while parts may arrive.
    private(set) var failure: (any Error)?
    /// True if the last local message was sent completely, or none was begun.
    var isOutboundWhole = true
    private var parts = CircularBuffer<Part>()
    private var isInsideMessage = false
    private var waiter: EventLoopPromise<Part>?
    private var limitAfterBeginning: TimeAmount?
    private var timer: Scheduled<Void>?
    private var handshake: EventLoopPromise<[UInt8]?>?
    private var context: ChannelHandlerContext?

    /// Returns the next part.
    /// - Parameters:
    ///   - limit: the maximum time until the part has arrived; nil for none.
    ///   - limitAfterBeginning: the maximum time from the part's first byte on, which then replaces `limit`; nil to keep `limit`.
    func next(within limit: TimeAmount?, onceBegun limitAfterBeginning: TimeAmount?, on loop: any EventLoop)
        -> EventLoopFuture<Part>
    {
        if let part = pop() { return loop.makeSucceededFuture(part) }
        if let failure { return loop.makeFailedFuture(failure) }
        precondition(waiter == nil, "two tasks read one message")
        let promise = loop.makePromise(of: Part.self)
        waiter = promise
        self.limitAfterBeginning = limitAfterBeginning
        limit.map(startTimer)
        context?.read()
        return promise.futureResult
    }

    /// Returns the peer's public key, or nil if the peer has presented none, once TLS is established. For clients only, before
    /// any other call.
    func handshake(within limit: TimeAmount, on loop: any EventLoop) -> EventLoopFuture<[UInt8]?> {
        if let failure { return loop.makeFailedFuture(failure) }
        let promise = loop.makePromise(of: [UInt8]?.self)
        handshake = promise
        startTimer(limit)
        if let context, context.channel.isActive { context.read() }
        return promise.futureResult
    }

    /// True if the current message was received completely, even if some of its parts are not passed on yet.
    var isInboundWhole: Bool {
        !isInsideMessage
            || parts.contains {
                if case .end = $0 { true } else { false }
            }
    }

    /// Discards the stored parts of the current message. Returns true if the message ends with them.
    func skipMessage() -> Bool {
        while isInsideMessage, pop() != nil {}
        return !isInsideMessage
    }

    /// True if the channel can be used for another request. Discards the stored parts of the current message.
    var isReady: Bool { failure == nil && isOutboundWhole && skipMessage() && parts.isEmpty }

    /// Ends reading: pending and later reads throw this error, or the error of an earlier call.
    func fail(_ error: any Error) {
        if failure == nil { failure = error }
        timer?.cancel()
        handshake?.fail(error)
        handshake = nil
        waiter?.fail(error)
        waiter = nil
    }

    private func pop() -> Part? {
        let part = parts.popFirst()
        switch part {
        case .head?: isInsideMessage = true
        case .end?: isInsideMessage = false
        case .body?, nil: break
        }
        return part
    }

    private func startTimer(_ limit: TimeAmount) {
        timer?.cancel()
        timer = context?.eventLoop.assumeIsolated().scheduleTask(in: limit) { self.fail(ConnectionFailure.timedOut) }
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        if handshake != nil { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent else { return }
        guard let promise = handshake else { return }
        handshake = nil
        timer?.cancel()
        promise.succeed(peerKey)
    }

    /// The peer's public key, verified by the handshake; nil before, and if the peer has presented none.
    var peerKey: [UInt8]? {
        (try? context?.pipeline.syncOperations.handler(type: TLSHandler.self))?.peerKey
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // A body that ends with the connection is complete only if the connection was closed properly.
        guard failure == nil else { return }
        parts.append(unwrapInboundIn(data))
        guard let waiter, let part = pop() else { return }
        self.waiter = nil
        timer?.cancel()
        waiter.succeed(part)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard waiter != nil else { return }
        // The bytes that were just read begin the awaited part.
        limitAfterBeginning.map(startTimer)
        limitAfterBeginning = nil
        context.read()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(error) }

    func channelInactive(context: ChannelHandlerContext) { fail(ConnectionFailure.closed) }
}
