// SPDX-License-Identifier: Apache-2.0

import EarshotRooms

/// The session's requests to other peers, and their shared connections.
struct OutgoingRequests {
    /// The maximum peers with kept connections.
    private static let clientCapacity = 32

    /// The pending requests, and the event streams being read.
    var calls: [CallID: Task<Void, Never>] = [:]
    private var clients: [Endpoint: PeerClient] = [:]

    /// Returns the connection to a peer, opening one if needed.
    mutating func client(for endpoint: Endpoint, identity: TLSIdentity) throws(HTTPSError) -> PeerClient {
        if let client = clients[endpoint] { return client }
        if clients.count >= Self.clientCapacity, let (old, client) = clients.first { close(client, to: old) }
        let client = try PeerClient(endpoint, identity: identity)
        clients[endpoint] = client
        return client
    }

    /// Closes a connection, unless another one to the peer has replaced it.
    mutating func close(_ client: PeerClient?, to endpoint: Endpoint) {
        guard let client, clients[endpoint] === client else { return }
        clients[endpoint] = nil
        client.http.close()
    }

    /// Closes all connections.
    mutating func closeAll() {
        for client in clients.values { client.http.close() }
        clients = [:]
    }
}
