// SPDX-License-Identifier: Apache-2.0

import EarshotRooms

/// The session's requests to other peers, and the connections that the requests to one peer share.
struct OutgoingRequests {
    /// The maximum peers with kept connections.
    private static let clientCapacity = 32

    /// The pending requests, and the event streams being read.
    var calls: [CallID: Task<Void, Never>] = [:]
    private var clients: [Endpoint: PeerClient] = [:]

    /// Returns the client for a peer, creating one if needed. If there are too many clients, closes another one.
    mutating func client(for endpoint: Endpoint, identity: TLSIdentity) throws(HTTPSError) -> PeerClient {
        if let client = clients[endpoint] { return client }
        if clients.count >= Self.clientCapacity, let (old, client) = clients.first { close(client, to: old) }
        let client = try PeerClient(endpoint, identity: identity)
        clients[endpoint] = client
        return client
    }

    /// Closes a client, unless another client for the peer has replaced it.
    mutating func close(_ client: PeerClient?, to endpoint: Endpoint) {
        guard let client, clients[endpoint] === client else { return }
        clients[endpoint] = nil
        client.http.close()
    }

    /// Closes all clients.
    mutating func closeAll() {
        for client in clients.values { client.http.close() }
        clients = [:]
    }
}
