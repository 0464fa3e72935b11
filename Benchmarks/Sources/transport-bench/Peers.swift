import AudioBase
import MediaTransport

/// Two DTLS sessions without a network between them.
struct Peers {
    let client: DTLSSession
    let server: DTLSSession

    init(_ anna: Identity, _ bert: Identity) throws {
        client = try DTLSSession(role: .client, identity: anna, peer: bert.certificateFingerprint)
        server = try DTLSSession(role: .server, identity: bert, peer: anna.certificateFingerprint)
    }

    /// Hands datagrams over until both are established.
    func shakeHands() {
        let now = HostTime(nanoseconds: 0)
        var toServer: [[UInt8]] = []
        var toClient: [[UInt8]] = []
        client.start(at: now) { toServer.append(Array($0)) }
        while !toServer.isEmpty {
            for datagram in toServer {
                datagram.withUnsafeBytes {
                    server.receive($0, at: now, transmit: { toClient.append(Array($0)) }, message: { _ in })
                }
            }
            toServer = []
            for datagram in toClient {
                datagram.withUnsafeBytes {
                    client.receive($0, at: now, transmit: { toServer.append(Array($0)) }, message: { _ in })
                }
            }
            toClient = []
        }
        guard client.peerKey != nil, server.peerKey != nil else { fatalError("no handshake") }
    }

    /// Both ends of a protected stream.
    func stream() throws -> (client: SRTPSession, server: SRTPSession) {
        guard let ours = client.makeSRTPKeys(), let theirs = server.makeSRTPKeys() else { fatalError("no keys") }
        return (try SRTPSession(keys: ours, role: .client), try SRTPSession(keys: theirs, role: .server))
    }
}
