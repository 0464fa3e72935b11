// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms

/// Transfers between members, beside media: messages, byte streams, files. For native members only.
extension NearbySession {
    /// Sends a message to each member, in the order of the calls. Returns when each has received it, exactly once.
    /// - Parameter bytes: the message, 1 to 65,536 bytes.
    /// - Throws: the members that did not get the message, and the reasons. A member whose connection ended at the last moment
    ///   may have received it.
    public func send(_ bytes: [UInt8], to members: [MemberID]) async throws(TransferFailure) {
        guard let transfers else {
            throw TransferFailure(Dictionary(uniqueKeysWithValues: Set(members).map { ($0, .ended) }))
        }
        try await transfers.send(bytes, to: members)
    }

    /// Opens a stream to a member. Returns when the connection is established; the remote peer's refusal is thrown by the first
    /// writes.
    public func openStream(named name: PeerName, to member: MemberID) async throws(TransferError) -> OutgoingStream {
        guard let transfers else { throw .ended }
        return try await transfers.openStream(named: name, to: member)
    }

    /// Starts sending a file: it is hashed, offered to each member, and sent to those that accept.
    /// - Throws: the reason that the file cannot be read. ``OutgoingFile/finished()`` throws later errors.
    public func sendFile(at path: String, to members: [MemberID]) async throws(TransferError) -> OutgoingFile {
        guard let transfers else { throw .ended }
        return try await transfers.sendFile(at: path, to: members)
    }

    func beginTransfers() {
        endTransfers()
        let room = SessionRoom(
            memberWith: { [weak self] in await self?.member(with: $0) },
            memberEndpoint: { [weak self] in await self?.endpoint(of: $0) })
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
        // The address from which the member's media comes is reachable, and has a scope.
        if let address = report(of: id)?.pair?.remote.address {
            let mediaAddress = SocketAddress(address, port: member.port)
            endpoint.addresses = [mediaAddress] + endpoint.addresses.filter { $0 != mediaAddress }
        }
        return endpoint
    }
}

/// The room of a session, for transfers. It does not retain the session.
private struct SessionRoom: TransferRoom {
    let memberWith: @Sendable (KeyFingerprint) async -> MemberID?
    let memberEndpoint: @Sendable (MemberID) async -> Endpoint?

    func member(with key: KeyFingerprint) async -> MemberID? { await memberWith(key) }
    func endpoint(of member: MemberID) async -> Endpoint? { await memberEndpoint(member) }
}
