// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOTLS

/// TLS between a channel and its next handler, by a ``TLSEngine``.
///
/// - Reading: after the handshake, bytes are read only while the next handler waits for content.
/// - Writing: writes flushed together are encrypted together. Their promises complete when the channel has accepted all of them.
///   Writes wait for the handshake.
/// - Closing sends the local close_notify and waits for the peer's, at most ``closeTimeout``. Bytes received meanwhile are
///   dropped.
/// - Failing: the next handler gets a ``TLSError``, or the judge's, and the channel is closed. A connection that ends without the
///   peer's close_notify is ``TLSError/truncated``.
///
/// Only on the channel's event loop. The engine, with its keys, is freed when the handler leaves the pipeline.
final class TLSHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum State {
        /// The channel is not active yet.
        case idle
        case handshaking
        case established
        /// The local close_notify was sent; the value is the timer that ends the wait for the peer's.
        case closing(Scheduled<Void>)
        case closed
    }

    /// The time to wait for the peer's close_notify.
    static let closeTimeout = TimeAmount.milliseconds(250)
    /// The maximum bytes that are encrypted in one call, unless a single write has more.
    static let flushCapacity = 131_072

    private(set) var engine: TLSEngine?
    var state = State.idle
    var isOutputClosed = false
    var closePromise: EventLoopPromise<Void>?
    private var pendingWrites = MarkedCircularBuffer<(content: ByteBuffer, promise: EventLoopPromise<Void>?)>(
        initialCapacity: 8)
    private let refusal: Refusal
    private var isReadAwaited = false
    private var hasDelivered = false

    /// The judge's error, if it refused the peer's key.
    private final class Refusal {
        var error: (any Error)?
    }

    /// - Parameter judge: verifies the peer's public key, as SPKI in DER, before anything is sent to the peer; an error that it
    ///   returns ends the connection. It must not wait.
    init(_ context: TLSContext, judge: @escaping ([UInt8]) -> (any Error)?) throws(TLSError) {
        let refusal = Refusal()
        engine = try TLSEngine(context) { key in
            refusal.error = judge(key)
            return refusal.error == nil
        }
        self.refusal = refusal
    }

    /// The peer's public key as SPKI in DER, verified by the handshake; nil before, and if it has presented none.
    var peerKey: [UInt8]? { engine?.peerKey }

    // MARK: Handshake

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { start(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        start(context)
    }

    private func start(_ context: ChannelHandlerContext) {
        guard case .idle = state, let engine else { return }
        state = .handshaking
        engine.start()
        sendOutput(context)
        if case .failed(let error) = engine.state { fail(error, context) }
    }

    // MARK: Reading

    func read(context: ChannelHandlerContext) {
        isReadAwaited = true
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Unsafe in this file: views of NIO's buffers, which do not leave the closure.
        guard isReading, let engine else { return }
        let bytes = unwrapInboundIn(data)
        var content = context.channel.allocator.buffer(capacity: bytes.readableBytes)
        unsafe bytes.withUnsafeReadableBytes { unsafe engine.receive($0) { unsafe content.writeBytes($0) } }
        sendOutput(context)
        if case .handshaking = state, engine.hasEstablished {
            state = .established
            let event = TLSUserEvent.handshakeCompleted(negotiatedProtocol: engine.applicationProtocol)
            context.fireUserInboundEventTriggered(event)
        }
        // Each event may have closed the connection.
        if case .established = state, content.readableBytes > 0 {
            (isReadAwaited, hasDelivered) = (false, true)
            context.fireChannelRead(wrapInboundOut(content))
        }
        switch engine.state {
        case .handshaking: break
        case .established: encryptPending(context)
        case .peerClosed:
            completeRead(context)
            peerHasClosed(context)
        case .failed(let error):
            completeRead(context)
            fail(refusal.error ?? error, context)
        }
    }

    /// Tells the next handler that a read is complete, if it has received anything.
    @discardableResult
    private func completeRead(_ context: ChannelHandlerContext) -> Bool {
        guard hasDelivered else { return false }
        hasDelivered = false
        context.fireChannelReadComplete()
        return true
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !completeRead(context) {
            switch state {
            case .handshaking, .closing: context.read()
            case .established: if isReadAwaited { context.read() }
            case .idle, .closed: break
            }
        }
    }

    private var isReading: Bool {
        switch state {
        case .handshaking, .established, .closing: true
        case .idle, .closed: false
        }
    }

    // MARK: Writing

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch state {
        case .idle, .handshaking, .established:
            guard !isOutputClosed else { return promise.fail(ChannelError.outputClosed) }
            pendingWrites.append((unwrapOutboundIn(data), promise))
        case .closing, .closed: promise.fail(ChannelError.ioOnClosedChannel)
        }
    }

    func flush(context: ChannelHandlerContext) {
        pendingWrites.mark()
        encryptPending(context)
    }

    /// Encrypts the flushed writes and sends them.
    private func encryptPending(_ context: ChannelHandlerContext) {
        while case .established = state, let engine, pendingWrites.hasMark {
            let (content, promise) = takePending(context)
            unsafe content.withUnsafeReadableBytes { unsafe engine.write($0) }
            if case .failed(let error) = engine.state {
                promise.fail(error)
                return fail(error, context)
            }
            // An empty write is still issued, so that promises complete in order.
            context.writeAndFlush(wrapOutboundOut(takeOutput(context)), promise: promise)
        }
    }

    /// Returns the contents of the next flushed writes as one buffer, with a promise for all of them.
    private func takePending(_ context: ChannelHandlerContext) -> (ByteBuffer, EventLoopPromise<Void>?) {
        var contents: [ByteBuffer] = []
        var promises: [EventLoopPromise<Void>] = []
        var size = 0
        while pendingWrites.hasMark, let next = pendingWrites.first,
            size == 0 || size + next.content.readableBytes <= Self.flushCapacity
        {
            _ = pendingWrites.removeFirst()
            if next.content.readableBytes > 0 { contents.append(next.content) }
            if let promise = next.promise { promises.append(promise) }
            size += next.content.readableBytes
        }
        guard contents.count != 1 else { return (contents[0], .all(promises, on: context.eventLoop)) }
        var joined = context.channel.allocator.buffer(capacity: size)
        for content in contents { joined.writeImmutableBuffer(content) }
        return (joined, .all(promises, on: context.eventLoop))
    }

    private func takeOutput(_ context: ChannelHandlerContext) -> ByteBuffer {
        guard let engine else { return ByteBuffer() }
        let size = engine.outputSize
        var buffer = context.channel.allocator.buffer(capacity: size)
        unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { unsafe engine.readOutput(into: $0) }
        return buffer
    }

    /// Sends the engine's pending output: handshake messages, alerts, replies.
    func sendOutput(_ context: ChannelHandlerContext) {
        guard let engine, engine.outputSize > 0 else { return }
        context.writeAndFlush(wrapOutboundOut(takeOutput(context)), promise: nil)
    }

    /// Fails the writes that were not encrypted.
    func failPending(_ error: any Error) {
        while let (_, promise) = pendingWrites.popFirst() { promise.fail(error) }
    }

    // MARK: End

    func channelInactive(context: ChannelHandlerContext) {
        if case .closing(let timer) = state { timer.cancel() }
        if case .idle = state {} else if let error = engine?.end() { context.fireErrorCaught(error) }
        state = .closed
        failPending(ChannelError.ioOnClosedChannel)
        closePromise?.succeed()
        closePromise = nil
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        if case .closing(let timer) = state { timer.cancel() }
        state = .closed
        failPending(ChannelError.ioOnClosedChannel)
        closePromise?.fail(ChannelError.ioOnClosedChannel)
        closePromise = nil
        engine = nil
    }
}

extension EventLoopPromise<Void>? {
    func fail(_ error: any Error) { self?.fail(error) }

    /// Returns a promise that completes all of these in order; nil for none.
    fileprivate static func all(_ promises: [EventLoopPromise<Void>], on loop: any EventLoop) -> Self {
        guard promises.count > 1 else { return promises.first }
        let one = loop.makePromise(of: Void.self)
        one.futureResult.whenComplete { result in
            for promise in promises { promise.completeWith(result) }
        }
        return one
    }
}
