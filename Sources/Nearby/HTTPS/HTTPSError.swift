// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Glibc
import NIOCore
import NIOHTTP1

import struct EarshotMediaTransport.SocketAddress

/// The reason that a server does not start or answer.
enum HTTPSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process listens on the TCP port.
    case portInUse(UInt16)
    /// The system forbids listening on the port.
    case permissionDenied(UInt16)
    /// The address to listen on is not this machine's.
    case addressNotAvailable(IPAddress)
    /// The certificate or key is not PEM, or they do not match; the value is the library's message.
    case unusableIdentity(String)
    /// The peer's machine answers, but no program listens on the port.
    case connectionRefused(SocketAddress)
    /// There is no route to the peer.
    case unreachable(SocketAddress)
    /// The peer did not answer in time.
    case timedOut(SocketAddress)
    /// The peer has the wrong key; the values are fingerprints. Nothing was sent to it.
    case wrongKey(SocketAddress, expected: String, found: String)
    /// The peer does not use TLS.
    case notTLS(SocketAddress)
    /// The TLS handshake failed; the value is the library's message.
    case handshakeFailed(SocketAddress, String)
    /// The peer does not use HTTP.
    case notHTTP(SocketAddress)
    /// The connection ended before the peer's answer was complete.
    case cut(SocketAddress)
    /// Another system error; the value is an `errno`.
    case system(CInt)

    /// One sentence that says what happened.
    var description: String {
        // Unsafe in this file: the system's message for an error is a C string.
        switch self {
        case .portInUse(let port): "TCP port \(port) is in use"
        case .permissionDenied(let port): "no permission to listen on TCP port \(port)"
        case .addressNotAvailable(let address): "\(address) is not an address of this machine"
        case .unusableIdentity(let reason): "the certificate or its key cannot be used: \(reason)"
        case .connectionRefused(let address): "nobody answers at \(address)"
        case .unreachable(let address): "no route to \(address)"
        case .timedOut(let address): "\(address) did not answer in time"
        case .wrongKey(let address, let expected, let found):
            "\(address) has the key \(found), not \(expected): it is another machine, or someone is intercepting the connection;"
                + " nothing was sent to it"
        case .notTLS(let address): "\(address) does not run Earshot"
        case .handshakeFailed(let address, let reason): "no encrypted connection to \(address): \(reason)"
        case .notHTTP(let address): "\(address) does not use HTTP"
        case .cut(let address): "\(address) closed the connection before its answer was complete"
        case .system(let code): unsafe "TCP: \(String(cString: strerror(code)))"
        }
    }
}

/// The reason that a connection of a client or a server failed; only the connection's owner sees it.
enum ConnectionFailure: Error {
    /// The peer or the local side closed the connection.
    case closed
    /// The peer did not send or read in time.
    case timedOut
}

extension HTTPSError {
    /// Creates the error of a server's `bind`.
    init(binding error: any Error, to address: SocketAddress) {
        self =
            switch (error as? IOError)?.errnoCode {
            case EADDRINUSE: .portInUse(address.port)
            case EACCES, EPERM: .permissionDenied(address.port)
            case EADDRNOTAVAIL, EAFNOSUPPORT, EINVAL, ENODEV: .addressNotAvailable(address.address)
            case let code: .system(code ?? EIO)
            }
    }

    /// Creates the error of a connection to `peer`; nil if it is not a network error.
    init?(_ error: any Error, from peer: SocketAddress) {
        switch error {
        case let error as HTTPSError: self = error
        case let error as IOError:
            switch error.errnoCode {
            case ECONNREFUSED: self = .connectionRefused(peer)
            case EHOSTUNREACH, ENETUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL, EINVAL, EAFNOSUPPORT:
                self = .unreachable(peer)
            case ETIMEDOUT: self = .timedOut(peer)
            case ECONNRESET, EPIPE, ENOTCONN: self = .cut(peer)
            case let code: self = .system(code)
            }
        case ConnectionFailure.timedOut, ChannelError.connectTimeout: self = .timedOut(peer)
        case HTTPParserError.invalidEOFState: self = .cut(peer)
        case is HTTPParserError, is NIOHTTPDecoderError: self = .notHTTP(peer)
        case TLSError.notTLS: self = .notTLS(peer)
        case TLSError.handshakeFailed(let problem), TLSError.system(let problem): self = .handshakeFailed(peer, problem)
        case is ConnectionFailure, is ChannelError, is TLSError: self = .cut(peer)
        default: return nil
        }
    }
}
