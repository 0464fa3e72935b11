// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

import struct EarshotMediaTransport.SocketAddress

/// HTTP/1.1 over TLS 1.2 or newer, on one TCP port.
///
/// The server requests a certificate from each client and accepts any, or none; the handler gets the verified key. Each
/// connection has a task, in which each request is a call of the handler. The task is cancelled when the client disconnects.
final class HTTPSServer: Sendable {
    typealias Handler = @Sendable (HTTPRequest) async throws -> HTTPResponse

    /// The bound address with the actual port.
    let localAddress: SocketAddress
    let limits: HTTPSLimits
    let table: ConnectionTable
    private let listener: NIOAsyncChannel<ServerConnection, Never>

    /// Starts listening; ``run(_:)`` answers.
    /// - Parameters:
    ///   - address: nil for all addresses of this machine, IPv4 and IPv6.
    ///   - port: 0 lets the system choose.
    init(
        address: IPAddress? = nil, port: UInt16, identity: TLSIdentity, limits: HTTPSLimits = HTTPSLimits()
    ) async throws(HTTPSError) {
        self.limits = limits
        table = ConnectionTable(limits)
        let context = try identity.serverContext()
        if let address {
            listener = try await Self.listen(.init(address, port: port), context, limits)
        } else {
            do throws(HTTPSError) {
                listener = try await Self.listen(.init(.v6(0, scope: 0), port: port), context, limits)
            } catch {
                // The machine has no IPv6.
                guard case .addressNotAvailable = error else { throw error }
                listener = try await Self.listen(.init(.any, port: port), context, limits)
            }
        }
        localAddress = SocketAddress(listener.channel.localAddress) ?? .init(.any, port: port)
    }

    deinit { listener.channel.close(promise: nil) }

    /// Answers requests until ``stop()``, or until the task is cancelled. Call it once.
    func run(_ handler: @escaping Handler) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.acceptConnections(handler) }
            group.addTask {
                // The grace period begins when the listener is closed.
                try? await self.listener.channel.closeFuture.get()
                try? await Task.sleep(for: self.limits.grace)
            }
            await group.next()
            group.cancelAll()
        }
    }

    /// Accepts no more connections and closes those that wait for a request. Pending requests have ``HTTPSLimits/grace``; then
    /// their tasks are cancelled. ``run(_:)`` returns afterwards.
    func stop() {
        table.stop()
        listener.channel.close(promise: nil)
    }

    private func acceptConnections(_ handler: @escaping Handler) async {
        try? await listener.executeThenClose { connections in
            try await withThrowingDiscardingTaskGroup { group in
                for try await connection in connections {
                    group.addTask { await self.serve(connection, handler) }
                }
            }
        }
    }

    /// Serves one connection by two tasks: one answers requests, the other waits until the client disconnects. When one ends, the
    /// other is cancelled.
    private func serve(_ connection: ServerConnection, _ handler: @escaping Handler) async {
        guard let remote = SocketAddress(connection.channel.remoteAddress),
            table.admit(connection, from: remote.address)
        else { return connection.abort(ConnectionFailure.closed) }
        defer { table.remove(connection) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.converse(on: connection, from: remote, handler) }
            group.addTask { await connection.closed() }
            await group.next()
            group.cancelAll()
        }
    }

    private static func listen(
        _ address: SocketAddress, _ context: TLSContext, _ limits: HTTPSLimits
    ) async throws(HTTPSError) -> NIOAsyncChannel<ServerConnection, Never> {
        var bootstrap = ServerBootstrap(group: HTTPSEventLoop.group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            // Limits the wait for a client whose machine vanished: the kernel would retry for a quarter of an hour.
            .childChannelOption(
                .tcpOption(NIOBSDSocket.Option(rawValue: TCP_USER_TIMEOUT)),
                value: SocketOptionValue(TimeAmount(limits.writeTimeout).nanoseconds / 1_000_000))
        if address.address == .v6(0, scope: 0) {
            bootstrap = bootstrap.serverChannelOption(
                ChannelOptions.socket(SocketOptionLevel(IPPROTO_IPV6), SocketOptionName(IPV6_V6ONLY)), value: 0)
        }
        do {
            return try await bootstrap.bind(to: address.forNIO) { channel in
                channel.eventLoop.makeCompletedFuture { try configure(channel, context, limits) }
            }
        } catch {
            throw HTTPSError(binding: error, to: address)
        }
    }

    /// Adds the handlers of a connection, from the network upwards. Runs on the connection's event loop.
    private static func configure(_ channel: any Channel, _ context: TLSContext, _ limits: HTTPSLimits) throws
        -> ServerConnection
    {
        var size = NIOHTTPDecoderLimitConfiguration()
        size.maxHeaderFieldSize = limits.headSize
        size.maxHeaderListSize = limits.headSize
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers(
            // Any key is accepted: the handler gets the verified one.
            TLSHandler(context) { _ in nil }, HTTPResponseEncoder(),
            ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: size)),
            NIOHTTPResponseHeadersValidator())
        return try ServerConnection(on: channel)
    }
}
