// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import NIOCore
import NIOHTTP1
import NIOPosix

import struct EarshotMediaTransport.SocketAddress

extension HTTPSClient {
    /// Connects to the address that answers first with the right key. Each address is tried shortly after the previous one (RFC
    /// 8305, section 5), or as soon as an earlier one has failed.
    func connect(by deadline: NIODeadline?) async throws -> HTTPLink {
        let limit = deadline.map { min(timeouts.connect, max(.zero, Duration($0 - .now()))) } ?? timeouts.connect
        return try await raced(addresses, every: timeouts.nextAddress) { address in
            do {
                return try await self.connect(to: address, within: limit)
            } catch {
                try Task.checkCancellation()
                throw HTTPSError(error, from: address) ?? error
            }
        } discard: { late in
            late.connection.abort(ConnectionFailure.closed)
        } worse: { a, b in
            Self.weight(a) < Self.weight(b)
        }
    }

    private func connect(to address: SocketAddress, within limit: Duration) async throws -> HTTPLink {
        let connectionPromise = HTTPSEventLoop.group.next().makePromise(of: ClientConnection.self)
        let connected = ClientBootstrap(group: HTTPSEventLoop.group)
            .connectTimeout(TimeAmount(limit))
            .channelOption(.autoRead, value: false)
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    connectionPromise.succeed(try self.configure(channel, address))
                }
            }.connect(to: address.forNIO)
        connected.whenFailure { connectionPromise.fail($0) }
        let connection = try await connectionPromise.futureResult.get()
        connected.whenFailure { connection.abort($0) }
        guard let key = try await connection.handshake(within: limit) else { throw HTTPSError.notTLS(address) }
        return HTTPLink(connection, to: address, serverKey: key)
    }

    /// Adds the handlers of a connection, from the network upwards. Runs on the connection's event loop.
    private func configure(_ channel: any Channel, _ address: SocketAddress) throws -> ClientConnection {
        var size = NIOHTTPDecoderLimitConfiguration()
        size.maxHeaderListSize = 65_536
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers(
            TLSHandler(context) { [judge] key in
                switch judge(key) {
                case .trusted: nil
                case .refused(let expected, let found): HTTPSError.wrongKey(address, expected: expected, found: found)
                }
            },
            HTTPRequestEncoder(), ByteToMessageHandler(HTTPResponseDecoder(limitConfiguration: size)),
            NIOHTTPRequestHeadersValidator())
        return try ClientConnection(on: channel)
    }

    /// Returns the rank of an error of one address. The error with the highest rank, the most informative, is thrown.
    private static func weight(_ error: any Error) -> Int {
        switch error as? HTTPSError {
        case .wrongKey: 4
        case .notTLS, .handshakeFailed, .notHTTP: 3
        case .cut, .connectionRefused: 2
        case .timedOut: 1
        default: 0
        }
    }
}

/// Calls `attempt` for one candidate after the other, each `delay` after the previous one or as soon as one has failed, until one
/// succeeds; the others are cancelled.
/// - Parameters:
///   - discard: receives results that came too late.
///   - worse: returns true if the first of two errors is less informative. The most informative one is thrown.
func raced<Candidate: Sendable, Winner: Sendable>(
    _ candidates: [Candidate], every delay: Duration,
    _ attempt: @escaping @Sendable (Candidate) async throws -> Winner, discard: (Winner) -> Void,
    worse: (any Error, any Error) -> Bool
) async throws -> Winner {
    try await withThrowingTaskGroup(of: RaceOutcome<Winner>.self) { group in
        var started = 0
        var lost: [any Error] = []
        func startNext() {
            guard started < candidates.count else { return }
            let candidate = candidates[started]
            started += 1
            group.addTask {
                do { return .won(try await attempt(candidate)) } catch { return .lost(error) }
            }
            group.addTask { [started] in
                try? await Task.sleep(for: delay)
                return .due(started)
            }
        }
        startNext()
        while lost.count < candidates.count, let outcome = try await group.next() {
            switch outcome {
            case .won(let winner):
                group.cancelAll()
                while let late = try await group.next() {
                    if case .won(let late) = late { discard(late) }
                }
                return winner
            case .lost(let error):
                lost.append(error)
                startNext()
            case .due(let number):
                if number == started { startNext() }
            }
        }
        try Task.checkCancellation()
        throw lost.max(by: worse) ?? CancellationError()
    }
}

private enum RaceOutcome<Winner: Sendable>: Sendable {
    case won(Winner)
    case lost(any Error)
    /// The next candidate is due, if no more than this number of attempts have begun.
    case due(Int)
}
