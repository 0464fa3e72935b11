// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import NIOCore
import NIOHTTP1
import Synchronization

import struct EarshotMediaTransport.SocketAddress

/// The verdict on a server's key, by the pinned key or the join code.
enum KeyVerdict: Hashable, Sendable {
    case trusted
    /// The key is wrong; both values are fingerprints.
    case refused(expected: String, found: String)
}

/// HTTP/1.1 over TLS to one server with one or more addresses.
///
/// The server's key is verified before any byte of a request is sent; names and issuers of certificates are ignored. Connections
/// are kept for later requests.
final class HTTPSClient: Sendable {
    /// The time limits.
    struct Timeouts: Sendable {
        /// The time for TCP and TLS together, at each address.
        var connect = Duration.seconds(5)
        /// The time between attempts at successive addresses.
        var nextAddress = Duration.milliseconds(150)
        /// The time that an idle connection is kept; less than the server's ``HTTPSLimits/idleTimeout``.
        var idle = Duration.seconds(30)
    }

    let addresses: [SocketAddress]
    let timeouts: Timeouts
    let context: TLSContext
    let judge: @Sendable ([UInt8]) -> KeyVerdict
    private let idlePool: IdleConnectionPool

    /// - Parameters:
    ///   - addresses: the server's addresses, the most likely first; at least one.
    ///   - identity: the client certificate, if the server requests one; nil for none.
    ///   - judge: verifies the server's public key, as SPKI in DER. Called on the event loop: it must not wait.
    init(
        addresses: [SocketAddress], identity: TLSIdentity?, timeouts: Timeouts = Timeouts(),
        judge: @escaping @Sendable ([UInt8]) -> KeyVerdict
    ) throws(HTTPSError) {
        precondition(!addresses.isEmpty)
        self.addresses = addresses
        self.timeouts = timeouts
        self.judge = judge
        context = try TLSIdentity.clientContext(identity)
        idlePool = IdleConnectionPool(lifetime: timeouts.idle)
    }

    deinit { idlePool.close() }

    /// Closes idle connections. Pending requests continue.
    func close() { idlePool.close() }

    /// Sends a request and calls `read` with the answer. After `read` has returned, the answer's body cannot be read.
    /// - Parameters:
    ///   - target: a path with its query; escape names by ``HTTPTarget/escape(_:)``.
    ///   - timeout: the limit for everything; nil for none, such as for a stream of events.
    /// - Throws: ``HTTPSError``, `CancellationError`, or the error of `read` or a streamed content.
    func send<Result>(
        _ method: HTTPMethod, _ target: String, headers: HTTPHeaders = [:], content: HTTPContent = .none,
        timeout: Duration? = .seconds(10), isolation: isolated (any Actor)? = #isolation,
        _ read: (HTTPAnswer) async throws -> Result
    ) async throws -> Result {
        let deadline = timeout.map { NIODeadline.now() + TimeAmount($0) }
        while true {
            let (link, isUsed) = try await link(by: deadline)
            let exchange = HTTPExchange(link: link, deadline: deadline)
            do {
                return try await exchange.run(method, target, headers, content, isolation: isolation, read) {
                    self.idlePool.put(link)
                }
            } catch is HTTPExchange.Unanswered where isUsed && method.isIdempotent && content.isRepeatable {
                // The server has probably just closed the kept connection: try another connection.
                continue
            } catch let error as HTTPExchange.Unanswered {
                throw error.reason
            }
        }
    }

    /// Sends a request and reads the answer.
    /// - Parameter limit: the maximum bytes of the answer's body.
    func send(
        _ method: HTTPMethod, _ target: String, headers: HTTPHeaders = [:], content: HTTPContent = .none,
        timeout: Duration? = .seconds(10), upTo limit: Int = 65_536
    ) async throws -> (head: HTTPAnswer, body: [UInt8]) {
        try await send(method, target, headers: headers, content: content, timeout: timeout) {
            ($0, try await $0.body.collect(upTo: limit))
        }
    }

    /// Returns a connection, and true if it was used before.
    private func link(by deadline: NIODeadline?) async throws -> (HTTPLink, Bool) {
        if let link = await idlePool.takeLink() { return (link, true) }
        return (try await connect(by: deadline), false)
    }
}

/// A server's answer.
struct HTTPAnswer: Sendable {
    let status: HTTPResponseStatus
    let headers: HTTPHeaders
    let body: HTTPBody
    /// The server's public key as SPKI in DER.
    let serverKey: [UInt8]
    /// The address that answered.
    let address: SocketAddress
}

/// A client's connection, with the server's key and address.
final class HTTPLink: Sendable {
    let connection: ClientConnection
    let address: SocketAddress
    let serverKey: [UInt8]

    init(_ connection: ClientConnection, to address: SocketAddress, serverKey: [UInt8]) {
        self.connection = connection
        self.address = address
        self.serverKey = serverKey
    }
}

extension HTTPContent {
    var isRepeatable: Bool {
        if case .bytes = self { true } else { false }
    }
}

extension HTTPMethod {
    /// True if repeating the request has the same effect (RFC 9110, section 9.2.2).
    var isIdempotent: Bool { [.GET, .HEAD, .PUT, .DELETE, .OPTIONS].contains(self) }
}
