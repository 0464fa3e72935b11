// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL
import Foundation
import TestSupport

@testable import EarshotNearby

/// A version of TLS, as a limit.
enum TLSVersion: CInt, CaseIterable, Sendable {
    case v1_2 = 0x0303
    case v1_3 = 0x0304

    /// OpenSSL's name for the version.
    var name: String { self == .v1_2 ? "TLSv1.2" : "TLSv1.3" }
}

extension TLSContext {
    static func make(_ role: Role, _ identity: TestIdentity?, _ version: TLSVersion) throws -> TLSContext {
        let context = try TLSContext(role, identity?.credentials)
        _ = SSL_CTX_ctrl(context.pointer, SSL_CTRL_SET_MAX_PROTO_VERSION, CLong(version.rawValue), nil)
        return context
    }
}

extension TestIdentity {
    var credentials: TLSCredentials {
        get throws {
            try TLSCredentials(
                certificatePEM: Array(Data(contentsOf: URL(filePath: certificate))),
                privateKeyPEM: Array(Data(contentsOf: URL(filePath: key))))
        }
    }
}

extension TLSEngine {
    /// Returns the bytes to send.
    func takeOutput() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: outputSize)
        let count = bytes.withUnsafeMutableBytes { readOutput(into: $0) }
        return Array(bytes.prefix(count))
    }

    /// Receives bytes from the network; returns their content.
    func receive(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var content: [UInt8] = []
        Array(bytes).withUnsafeBytes { receive($0) { content += $0 } }
        return content
    }

    func write(_ content: [UInt8]) { content.withUnsafeBytes { write($0) } }
}

extension TLSEngine.State {
    /// OpenSSL's message for a failure of the handshake.
    var handshakeWords: String? {
        if case .failed(.handshakeFailed(let words)) = self { words } else { nil }
    }

    /// OpenSSL's message for a failure after the handshake.
    var brokenWords: String? {
        if case .failed(.broken(let words)) = self { words } else { nil }
    }
}

/// A client and a server without a network in between.
struct TLSPair {
    let client: TLSEngine
    let server: TLSEngine

    init(
        _ version: TLSVersion = .v1_3, accepts: @escaping ([UInt8]) -> Bool = { $0 == TestIdentity.server.publicKey }
    ) throws {
        client = try TLSEngine(TLSContext.make(.client, .client, version), accepts: accepts)
        server = try TLSEngine(TLSContext.make(.server, .server, version)) { _ in true }
        client.start()
        server.start()
    }

    /// A pair after its handshake, including tickets.
    static func established(_ version: TLSVersion = .v1_3) throws -> TLSPair {
        let pair = try TLSPair(version)
        _ = pair.exchange()
        return pair
    }

    /// Passes bytes on until neither side has any. Returns what each received.
    func exchange() -> (toClient: [UInt8], toServer: [UInt8]) {
        var (toClient, toServer): ([UInt8], [UInt8]) = ([], [])
        while client.outputSize > 0 || server.outputSize > 0 {
            toServer += server.receive(client.takeOutput())
            toClient += client.receive(server.takeOutput())
        }
        return (toClient, toServer)
    }
}

/// An engine's peer with OpenSSL alone: it does what no engine would.
final class RawTLSPeer {
    let ssl: OpaquePointer
    private let context: OpaquePointer
    private let input = BIO_new(BIO_s_mem())
    private let output = BIO_new(BIO_s_mem())

    init(_ role: TLSContext.Role, _ version: TLSVersion, _ identity: TestIdentity) {
        context = SSL_CTX_new(role == .client ? TLS_client_method() : TLS_server_method())
        SSL_CTX_use_certificate_chain_file(context, identity.certificate)
        SSL_CTX_use_PrivateKey_file(context, identity.key, SSL_FILETYPE_PEM)
        _ = SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, CLong(version.rawValue), nil)
        ssl = SSL_new(context)
        SSL_set_bio(ssl, input, output)
        if role == .client { SSL_set_connect_state(ssl) } else { SSL_set_accept_state(ssl) }
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    /// Performs a step of a handshake, possibly a new one. Returns OpenSSL's result.
    @discardableResult
    func shakeHands() -> CInt {
        ERR_clear_error()
        return SSL_get_error(ssl, SSL_do_handshake(ssl))
    }

    func takeOutput() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(output))
        _ = BIO_read(output, &bytes, CInt(bytes.count))
        return bytes
    }

    func take(_ bytes: [UInt8]) { _ = BIO_write(input, bytes, CInt(bytes.count)) }

    func write(_ bytes: [UInt8]) {
        ERR_clear_error()
        _ = SSL_write(ssl, bytes, CInt(bytes.count))
    }

    /// Returns the content, and OpenSSL's reason for its end; 0 if it only waits.
    func read() -> (content: [UInt8], reason: CInt) {
        var content: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16_384)
        ERR_clear_error()
        while case let count = SSL_read(ssl, &piece, CInt(piece.count)), count > 0 {
            content += piece.prefix(Int(count))
        }
        defer { ERR_clear_error() }
        return (content, ERR_GET_REASON(ERR_peek_error()))
    }

    /// Passes bytes on until neither side has any. Returns what each received.
    func exchange(with engine: TLSEngine) -> (toPeer: [UInt8], toEngine: [UInt8]) {
        var (toPeer, toEngine): ([UInt8], [UInt8]) = ([], [])
        repeat {
            toEngine += engine.receive(takeOutput())
            take(engine.takeOutput())
            if SSL_is_init_finished(ssl) == 0 { shakeHands() }
            toPeer += read().content
        } while engine.outputSize > 0 || BIO_ctrl_pending(output) > 0
        return (toPeer, toEngine)
    }
}

/// Splits bytes into records by their headers.
func records(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var found: [ArraySlice<UInt8>] = []
    var rest = bytes[...]
    while rest.count >= 5 {
        let start = rest.startIndex
        found.append(rest.prefix(5 + Int(rest[start + 3]) << 8 + Int(rest[start + 4])))
        rest = rest.dropFirst(found.last!.count)
    }
    return found
}
