// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import NIOCore
import NIOHTTP1

extension Transfers {
    /// Opens a stream to a member. Returns when the connection is established; the remote peer's refusal is thrown by the first
    /// writes.
    func openStream(named name: PeerName, to member: MemberID) async throws(TransferError) -> OutgoingStream {
        let pieces = Mailbox<StreamPiece>(capacity: 0)
        let isOpen = Outcome<TransferError?>()
        let stream = OutgoingStream(pieces) {
            do {
                try await self.transferTasks.run(with: member) { try await self.post(pieces, name, to: member, isOpen) }
            } catch {
                isOpen.set(TransferError(error))
                throw error
            }
        }
        do {
            if let error = try await isOpen.get() { throw error }
        } catch {
            stream.cancel()
            throw TransferError(error)
        }
        return stream
    }

    private func post(
        _ pieces: Mailbox<StreamPiece>, _ name: PeerName, to member: MemberID, _ isOpen: Outcome<TransferError?>
    ) async throws {
        let content = HTTPContent.stream { writer in
            isOpen.set(nil)
            while case .bytes(let bytes)? = try await pieces.next() { try await writer.write(ByteBuffer(bytes: bytes)) }
        }
        let (head, body) = try await client(of: member).send(
            .POST, "/streams/\(HTTPTarget.escape(name.text))", headers: ["Content-Type": "application/octet-stream"],
            content: content, timeout: nil)
        guard head.status == .noContent else { throw TransferError(status: head.status, body: body) }
    }

    /// Handles `POST /streams/{name}`; the answer follows when the application has read everything.
    func takeStream(_ request: HTTPRequest, from member: MemberID) async throws -> HTTPResponse {
        try request.require(.POST)
        guard let name = try? PeerName(request.target.components[1]) else {
            throw TransferError.malformed("a stream's name has 1 to 63 bytes, and no control characters")
        }
        let isFree = openStreams.withLock { streams in
            guard streams[member, default: 0] < limits.streamsPerMember else { return false }
            streams[member, default: 0] += 1
            return true
        }
        guard isFree else { throw TransferError.busy }
        defer {
            openStreams.withLock { streams in
                streams[member, default: 1] -= 1
                if streams[member] == 0 { streams[member] = nil }
            }
        }
        let pieces = Mailbox<StreamPiece>(capacity: 0)
        do {
            // Only the application retains the `IncomingStream`: when it is released, the stream is closed.
            try await deliver(.stream(IncomingStream(name, pieces), from: member))
            for try await piece in request.body { try await pieces.send(.bytes(Array(piece.readableBytesView))) }
            try await pieces.send(.end)
        } catch {
            pieces.fail(transferTasks.isOver ? TransferError.ended : TransferError.cut)
            throw error
        }
        return HTTPResponse(status: .noContent)
    }
}
