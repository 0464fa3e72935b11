// SPDX-License-Identifier: Apache-2.0

import NIOCore

extension TLSHandler {
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch mode {
        case .all: closeAll(context, promise)
        case .output: closeOutput(context, promise)
        case .input: promise.fail(ChannelError.operationUnsupported)
        }
    }

    private func closeAll(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        switch state {
        case .idle, .handshaking:
            // There is no close_notify before the end of the handshake.
            finish(context, promise)
        case .established:
            engine?.close()
            sendOutput(context)
            if engine?.state == .established, case .established = state {
                failPending(ChannelError.ioOnClosedChannel)
                closePromise = promise
                state = .closing(startTimer(context))
                context.read()
            } else {
                finish(context, promise)
            }
        case .closing:
            if let closePromise {
                closePromise.futureResult.cascade(to: promise)
            } else {
                closePromise = promise
            }
        case .closed: context.close(promise: promise)
        }
    }

    /// Closes the local half of the connection. The peer may continue sending, except handshake messages, which OpenSSL then
    /// rejects.
    private func closeOutput(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        guard case .established = state else { return promise.fail(ChannelError.inappropriateOperationForState) }
        guard !isOutputClosed else { return promise.fail(ChannelError.outputClosed) }
        isOutputClosed = true
        failPending(ChannelError.outputClosed)
        engine?.close()
        sendOutput(context)
        if engine?.state == .established {
            context.close(mode: .output, promise: promise)
        } else {
            finish(context, promise)
        }
    }

    private func startTimer(_ context: ChannelHandlerContext) -> Scheduled<Void> {
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.closeTimeout) {
            guard case .closing = self.state else { return }
            self.finish(context, self.takeClosePromise())
        }
    }

    private func takeClosePromise() -> EventLoopPromise<Void>? {
        defer { closePromise = nil }
        return closePromise
    }

    /// Closes the channel, and fails the writes that were not encrypted.
    private func finish(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        if case .closing(let timer) = state { timer.cancel() }
        state = .closed
        failPending(ChannelError.ioOnClosedChannel)
        context.close(promise: promise)
    }

    /// Handles the peer's close_notify: sends the local one and closes, unless the channel's owner has requested half-closure.
    func peerHasClosed(_ context: ChannelHandlerContext) {
        switch state {
        case .established:
            if !isOutputClosed, allowsHalfClosure(context) {
                context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            } else {
                engine?.close()
                sendOutput(context)
                finish(context, nil)
            }
        case .closing: finish(context, takeClosePromise())
        case .idle, .handshaking, .closed: break
        }
    }

    private func allowsHalfClosure(_ context: ChannelHandlerContext) -> Bool {
        (try? context.channel.syncOptions?.getOption(.allowRemoteHalfClosure)) ?? false
    }

    /// Ends a failed connection. While the connection is being closed, no error is reported.
    func fail(_ error: any Error, _ context: ChannelHandlerContext) {
        switch state {
        case .idle, .handshaking, .established:
            state = .closed
            failPending(error)
            context.fireErrorCaught(error)
            context.close(promise: nil)
        case .closing: finish(context, takeClosePromise())
        case .closed: break
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent {
            inputHasEnded(context)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Handles the end of the peer's half of the TCP connection, on a channel that allows half-closure.
    private func inputHasEnded(_ context: ChannelHandlerContext) {
        // After the peer's close_notify, the next handler knows of the end already.
        if let error = engine?.end() { fail(error, context) }
    }
}
