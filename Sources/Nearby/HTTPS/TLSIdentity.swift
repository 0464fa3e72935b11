// SPDX-License-Identifier: Apache-2.0

/// A certificate and its private key, as TLS presents and proves them.
struct TLSIdentity: Sendable {
    private let credentials: TLSCredentials

    /// Both in PEM.
    init(certificatePEM: [UInt8], privateKeyPEM: [UInt8]) throws(HTTPSError) {
        credentials = try Self.named { () throws(TLSError) in
            try TLSCredentials(certificatePEM: certificatePEM, privateKeyPEM: privateKeyPEM)
        }
    }

    /// For a server: asks for the client's certificate and does not insist on one.
    func serverContext() throws(HTTPSError) -> TLSContext { try Self.context(.server, credentials) }

    /// For a client that decides itself on the server's key. Without an identity it shows none.
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
