// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOTLS

@testable import EarshotNearby

/// A handler in an embedded channel, observed from both sides, with an engine as its peer.
final class TLSLine {
    let channel = EmbeddedChannel()
    let peer: TLSEngine
    let below = Below()
    let above = Above()

    init(
        _ role: TLSContext.Role, _ version: TLSVersion = .v1_3,
        judge: @escaping ([UInt8]) -> (any Error)? = { _ in nil }
    ) throws {
        let (ours, theirs) =
            role == .client ? (TestIdentity.client, .server) : (TestIdentity.server, TestIdentity.client)
        let context = try TLSContext.make(role == .client ? .server : .client, theirs, version)
        peer = try TLSEngine(context) { _ in true }
        peer.start()
        try channel.pipeline.syncOperations.addHandlers(
            below, TLSHandler(TLSContext.make(role, ours, version), judge: judge), above)
        channel.connect(to: try SocketAddress(unixDomainSocketPath: "/"), promise: nil)
    }

    /// A client after its handshake, with no events recorded.
    static func established() throws -> TLSLine {
        let line = try TLSLine(.client)
        line.exchange()
        line.below.keepPromises()
        line.above.events = []
        return line
    }

    var handler: TLSHandler? { try? channel.pipeline.syncOperations.handler(type: TLSHandler.self) }

    func write(_ text: String) -> EventLoopFuture<Void> {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        channel.write(ByteBuffer(string: text), promise: promise)
        return promise.futureResult
    }

    /// Delivers one read of the channel.
    func deliver(_ bytes: some Sequence<UInt8>) {
        let bytes = ByteBuffer(bytes: bytes)
        if bytes.readableBytes > 0 { channel.pipeline.fireChannelRead(bytes) }
        channel.pipeline.fireChannelReadComplete()
    }

    /// Passes bytes on until neither side has any. Returns what the peer received.
    @discardableResult
    func exchange() -> [UInt8] {
        var told: [UInt8] = []
        while !below.written.isEmpty || peer.outputSize > 0 {
            let bytes = below.written.flatMap { Array($0.readableBytesView) }
            below.written = []
            told += peer.receive(bytes)
            if peer.outputSize > 0 { deliver(peer.takeOutput()) }
        }
        return told
    }

    /// The network: records writes and keeps their promises until they are fulfilled.
    final class Below: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        var written: [ByteBuffer] = []
        var reads = 0
        var closed: [CloseMode] = []
        private var promises: [EventLoopPromise<Void>?] = []

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            written.append(unwrapOutboundIn(data))
            promises.append(promise)
        }

        func read(context: ChannelHandlerContext) { reads += 1 }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            closed.append(mode)
            if mode == .output { promise?.succeed() } else { context.close(mode: mode, promise: promise) }
        }

        func keepPromises(_ count: Int = .max) {
            for promise in promises.prefix(count) { promise?.succeed() }
            promises = Array(promises.dropFirst(count))
        }
    }

    /// The next handler: records what it receives.
    final class Above: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        var events: [String] = []
        var errors: [any Error] = []

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            events.append("read \(String(buffer: unwrapInboundIn(data)))")
        }

        func channelReadComplete(context: ChannelHandlerContext) { events.append("complete") }

        func channelInactive(context: ChannelHandlerContext) { events.append("inactive") }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            errors.append(error)
            events.append("error")
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            switch event {
            case TLSUserEvent.handshakeCompleted(let name): events.append("handshake \(name ?? "none")")
            case ChannelEvent.inputClosed: events.append("inputClosed")
            default: events.append("\(event)")
            }
        }
    }
}
