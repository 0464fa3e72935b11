// SPDX-License-Identifier: Apache-2.0

/// A certificate and its private key, for TLS.
struct TLSIdentity: Sendable {
    private let credentials: TLSCredentials

    /// Reads the certificate and the private key, both in PEM.
    init(certificatePEM: [UInt8], privateKeyPEM: [UInt8]) throws(HTTPSError) {
        credentials = try Self.named { () throws(TLSError) in
            try TLSCredentials(certificatePEM: certificatePEM, privateKeyPEM: privateKeyPEM)
        }
    }

    /// Returns a server's context, which requests the client's certificate without requiring it.
    func serverContext() throws(HTTPSError) -> TLSContext { try Self.context(.server, credentials) }

    /// Returns a client's context; the client verifies the server's key itself. Without an identity it presents no certificate.
    static func clientContext(_ identity: TLSIdentity?) throws(HTTPSError) -> TLSContext {
        try context(.client, identity?.credentials)
    }

    private static func context(_ role: TLSContext.Role, _ credentials: TLSCredentials?) throws(HTTPSError)
        -> TLSContext
    {
        try named { () throws(TLSError) in try TLSContext(role, credentials) }
    }

    private static func named<Result>(_ body: () throws(TLSError) -> Result) throws(HTTPSError) -> Result {
        do {
            return try body()
        } catch {
            guard case .system(let reason) = error else { throw .unusableIdentity("\(error)") }
            throw .unusableIdentity(reason)
        }
    }
}
