// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Foundation
import TestSupport

@testable import EarshotNearby

/// A key and certificate by openssl, as files and as bytes.
struct TestIdentity: Sendable {
    let certificate: String
    let key: String
    /// SPKI in DER, as openssl prints it.
    let publicKey: [UInt8]

    static let server = make("server")
    static let client = make("client")
    static let other = make("other")
    static let rsa = make("rsa", ["rsa:2048"])

    var identity: TLSIdentity {
        get throws { try TLSIdentity(certificatePEM: Self.read(certificate), privateKeyPEM: Self.read(key)) }
    }

    private static let folder: String = {
        let folder = "\(NSTemporaryDirectory())earshot-https-\(getpid())"
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }()

    private static func make(_ name: String, _ options: [String] = ["ec"]) -> TestIdentity {
        let certificate = "\(folder)/\(name).crt"
        let key = "\(folder)/\(name).key"
        let kind =
            switch options[0] {
            case "ec": ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key]
            default: ["-newkey", options[0], "-nodes", "-keyout", key]
            }
        let der = "\(folder)/\(name).der"
        _ = try? ChildProcess.run(
            ["openssl", "req", "-x509", "-out", certificate, "-days", "30", "-subj", "/CN=Earshot"] + kind)
        _ = try? ChildProcess.run(["openssl", "pkey", "-in", key, "-pubout", "-outform", "DER", "-out", der])
        return TestIdentity(certificate: certificate, key: key, publicKey: read(der))
    }

    private static func read(_ path: String) -> [UInt8] { Array(FileManager.default.contents(atPath: path) ?? Data()) }
}

/// Runs a server on loopback during `body`.
func withServer<Result: Sendable>(
    _ identity: TestIdentity = .server, limits: HTTPSLimits = HTTPSLimits(),
    answering handler: @escaping HTTPSServer.Handler, _ body: (HTTPSServer) async throws -> Result
) async throws -> Result {
    let server = try await HTTPSServer(address: .loopback, port: 0, identity: identity.identity, limits: limits)
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await server.run(handler) }
        do {
            let result = try await body(server)
            server.stop()
            return result
        } catch {
            server.stop()
            throw error
        }
    }
}

/// A client that has the client's certificate and requires the server's key.
func client(
    of server: HTTPSServer, _ identity: TestIdentity? = .client, pinning pinned: TestIdentity = .server,
    timeouts: HTTPSClient.Timeouts = .init()
) throws -> HTTPSClient {
    try client(of: [server.localAddress], identity, pinning: pinned, timeouts: timeouts)
}

func client(
    of addresses: [SocketAddress], _ identity: TestIdentity? = .client, pinning pinned: TestIdentity = .server,
    timeouts: HTTPSClient.Timeouts = .init()
) throws -> HTTPSClient {
    try HTTPSClient(addresses: addresses, identity: identity?.identity, timeouts: timeouts) {
        $0 == pinned.publicKey ? .trusted : .refused(expected: name(of: pinned.publicKey), found: name(of: $0))
    }
}

/// Stands for a fingerprint.
func name(of publicKey: [UInt8]) -> String { publicKey.suffix(4).map { String(format: "%02x", $0) }.joined() }

/// Runs a program to its end without blocking a thread of Swift's pool.
func run(_ arguments: [String], seconds: Double = 20) async throws -> (status: Int32, output: String, errors: String) {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(with: Swift.Result { try ChildProcess.run(arguments, seconds: seconds) })
        }
    }
}

/// Waits, without blocking a thread, for an effect of another task; false after ten seconds.
func soon(_ condition: @Sendable () async -> Bool) async -> Bool {
    for _ in 0..<2_000 {
        if await condition() { return true }
        try? await Task.sleep(for: .milliseconds(5))
    }
    return await condition()
}

extension HTTPSServer {
    /// For curl and openssl.
    var url: String { "https://\(localAddress)" }
}

/// Counts the actions of several tasks.
actor Tally {
    private(set) var count = 0
    private(set) var words: [String] = []
    func add(_ number: Int = 1) { count += number }
    func note(_ word: String) { words.append(word) }
}
