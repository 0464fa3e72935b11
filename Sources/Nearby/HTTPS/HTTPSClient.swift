// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import NIOCore
import NIOHTTP1
import Synchronization

import struct EarshotMediaTransport.SocketAddress

/// The verdict on a server's key, by the pinned key, the join code, or nothing yet.
enum KeyVerdict: Hashable, Sendable {
    case trusted
    /// Both as fingerprints, for people.
    case refused(expected: String, found: String)
}

/// HTTP/1.1 over TLS to one server, which may have several addresses.
///
/// The server's key is judged before a byte of a request is sent; names and authorities of certificates do not matter.
/// Connections are kept for the next request.
final class HTTPSClient: Sendable {
    /// The time limits.
    struct Timeouts: Sendable {
        /// Until TCP and TLS are up, at each address.
        var connect = Duration.seconds(5)
        /// Time between attempts at successive addresses while none has answered.
        var nextAddress = Duration.milliseconds(150)
        /// Time that an idle connection is kept; less than the server's ``HTTPSLimits/idleTimeout``.
        var idle = Duration.seconds(30)
    }

    let addresses: [SocketAddress]
    let timeouts: Timeouts
    let context: TLSContext
    let judge: @Sendable ([UInt8]) -> KeyVerdict
    private let idle: IdleConnectionPool

    /// - Parameters:
    ///   - addresses: the server's, the likeliest first; at least one.
    ///   - identity: the client certificate, if the server requests one; nil for none.
    ///   - judge: gets the server's public key, as SPKI in DER. Called on the event loop: it must not wait.
    init(
        addresses: [SocketAddress], identity: TLSIdentity?, timeouts: Timeouts = Timeouts(),
        judge: @escaping @Sendable ([UInt8]) -> KeyVerdict
    ) throws(HTTPSError) {
        precondition(!addresses.isEmpty)
        self.addresses = addresses
        self.timeouts = timeouts
        self.judge = judge
        context = try TLSIdentity.clientContext(identity)
        idle = IdleConnectionPool(lifetime: timeouts.idle)
    }

    deinit { idle.close() }

    /// Closes the connections that are kept. Requests that are under way go on.
    func close() { idle.close() }

    /// Sends a request and has `read` read the answer, of which nothing is left when it returns.
    /// - Parameters:
    ///   - target: a path with its query; names in it by ``HTTPTarget/escape(_:)``.
    ///   - timeout: for all of it, or nil; a stream of events has none.
    /// - Throws: ``HTTPSError``, `CancellationError`, or what `read` or a streamed content throws.
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
                    self.idle.put(link)
                }
            } catch is HTTPExchange.Unanswered where isUsed && method.isIdempotent && content.isRepeatable {
                // The server has just closed a connection that was kept.
                continue
            } catch let error as HTTPExchange.Unanswered {
                throw error.reason
            }
        }
    }

    /// Sends a request and reads the answer.
    /// - Parameter limit: bytes of the answer's body at most.
    func send(
        _ method: HTTPMethod, _ target: String, headers: HTTPHeaders = [:], content: HTTPContent = .none,
        timeout: Duration? = .seconds(10), upTo limit: Int = 65_536
    ) async throws -> (head: HTTPAnswer, body: [UInt8]) {
        try await send(method, target, headers: headers, content: content, timeout: timeout) {
            ($0, try await $0.body.collect(upTo: limit))
        }
    }

    /// A connection, and whether it was used before.
    private func link(by deadline: NIODeadline?) async throws -> (HTTPLink, Bool) {
        if let link = await idle.takeLink() { return (link, true) }
        return (try await connect(by: deadline), false)
    }
}

/// A server's answer.
struct HTTPAnswer: Sendable {
    let status: HTTPResponseStatus
    let headers: HTTPHeaders
    let body: HTTPBody
    /// The server's, as SPKI in DER.
    let serverKey: [UInt8]
    /// The address that answered.
    let address: SocketAddress
}

/// A connection of a client, with what is known of the server.
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
    /// Asking twice does what asking once does (RFC 9110, section 9.2.2).
    var isIdempotent: Bool { [.GET, .HEAD, .PUT, .DELETE, .OPTIONS].contains(self) }
}
