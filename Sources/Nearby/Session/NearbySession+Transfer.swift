// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms

/// Transfers from member to member beside media: messages, streams of bytes, files. Native members only.
extension NearbySession {
    /// Sends a message to each of the members, in the order of the calls; it returns when each has it, once.
    /// - Parameter bytes: 1 to 65,536.
    /// - Throws: who did not get it. One whose connection was cut at the last moment may have got it all the same.
    public func send(_ bytes: [UInt8], to members: [MemberID]) async throws(TransferFailure) {
        guard let transfers else {
            throw TransferFailure(Dictionary(uniqueKeysWithValues: Set(members).map { ($0, .ended) }))
        }
        try await transfers.send(bytes, to: members)
    }

    /// Opens a stream to a member; it returns when the connection stands. What the remote peer says against it, the first
    /// writes throw.
    public func openStream(named name: PeerName, to member: MemberID) async throws(TransferError) -> OutgoingStream {
        guard let transfers else { throw .ended }
        return try await transfers.openStream(named: name, to: member)
    }

    /// Begins to send a file: its hash is made, it is offered to each of the members, and sent to those who accept.
    /// - Throws: why the file cannot be read; what is between the two sides is told by what it returns.
    public func sendFile(at path: String, to members: [MemberID]) async throws(TransferError) -> OutgoingFile {
        guard let transfers else { throw .ended }
        return try await transfers.sendFile(at: path, to: members)
    }

    func beginTransfers() {
        endTransfers()
        let room = SessionRoom(
            memberWith: { [weak self] in await self?.member(with: $0) },
            endpointOf: { [weak self] in await self?.endpoint(of: $0) })
        transfers = Transfers(room: room, identity: tls) { [arrivals] in try await arrivals.send($0) }
    }

    func endTransfers() {
        transfers?.close()
        transfers = nil
    }

    private func member(with key: KeyFingerprint) -> MemberID? {
        key == fingerprint ? nil : roster?.member(with: key)?.id
    }

    private func endpoint(of id: MemberID) -> Endpoint? {
        guard id != memberID, let member = roster?[id], var endpoint = Endpoint(member) else { return nil }
        // The source of its media is reachable, scope and all.
        if let address = report(of: id)?.pair?.remote.address {
            let place = SocketAddress(address, port: member.port)
            endpoint.addresses = [place] + endpoint.addresses.filter { $0 != place }
        }
        return endpoint
    }
}

/// A session's room, without keeping the session.
private struct SessionRoom: TransferRoom {
    let memberWith: @Sendable (KeyFingerprint) async -> MemberID?
    let endpointOf: @Sendable (MemberID) async -> Endpoint?

    func member(with key: KeyFingerprint) async -> MemberID? { await memberWith(key) }
    func endpoint(of member: MemberID) async -> Endpoint? { await endpointOf(member) }
}
