import NIOSSL

/// A certificate and its private key, as TLS presents and proves them.
struct TLSIdentity: Sendable {
    private let chain: [NIOSSLCertificate]
    private let key: NIOSSLPrivateKey

    /// Both in PEM.
    init(certificatePEM: [UInt8], privateKeyPEM: [UInt8]) throws(HTTPSError) {
        do {
            chain = try NIOSSLCertificate.fromPEMBytes(certificatePEM)
            key = try NIOSSLPrivateKey(bytes: privateKeyPEM, format: .pem)
        } catch {
            throw .unusableIdentity("\(error)")
        }
    }

    /// For a server: asks for the client's certificate and does not insist on one.
    ///
    /// The names of issuers that it sends are our own certificate's: a browser then asks its user for none of theirs.
    func serverContext() throws(HTTPSError) -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.certificateVerification = .optionalVerification
        configuration.trustRoots = .certificates(Array(chain.prefix(1)))
        configuration.sendCANameList = true
        return try Self.context(configuration)
    }

    /// For a client that decides itself on the server's key. Without an identity it shows none.
    static func clientContext(_ identity: TLSIdentity?) throws(HTTPSError) -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateChain = identity?.chain.map { .certificate($0) } ?? []
        configuration.privateKey = identity.map { .privateKey($0.key) }
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        return try context(configuration)
    }

    private static func context(_ base: TLSConfiguration) throws(HTTPSError) -> NIOSSLContext {
        var configuration = base
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        configuration.shutdownTimeout = .milliseconds(250)
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw .unusableIdentity("\(error)")
        }
    }
}

extension NIOSSLCertificate {
    /// The public key, as SPKI in DER; nil where there is none to be read.
    var publicKey: [UInt8]? { try? extractPublicKey().toSPKIBytes() }
}
