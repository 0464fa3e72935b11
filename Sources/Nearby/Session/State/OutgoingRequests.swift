// SPDX-License-Identifier: Apache-2.0

import EarshotRooms

/// The session's requests of other peers, and the connections that they share.
struct OutgoingRequests {
    /// Peers whose connections are kept at most.
    private static let clientCapacity = 32

    /// Requests without an answer yet, and event streams that are read.
    var calls: [CallID: Task<Void, Never>] = [:]
    private var clients: [Endpoint: PeerClient] = [:]

    /// Returns the connection to a peer, which is opened if there is none.
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
