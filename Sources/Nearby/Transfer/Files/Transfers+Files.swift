// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import NIOHTTP1

extension Transfers {
    /// Starts sending a file: it is hashed, offered to each member, and sent to those that accept.
    /// - Throws: the reason that the file cannot be read. ``OutgoingFile/finished()`` throws later errors.
    func sendFile(at path: String, to members: some Sequence<MemberID>) async throws(TransferError) -> OutgoingFile {
        do {
            return OutgoingFile(try await SourceFile.open(path), to: Array(Set(members)).sorted(), by: self)
        } catch {
            throw TransferError(error)
        }
    }

    /// Handles `POST`, `PUT` and `DELETE /files/{hash}`.
    func takeFile(_ request: HTTPRequest, from member: MemberID, with key: KeyFingerprint) async throws -> HTTPResponse
    {
        try request.require(.POST, .PUT, .DELETE)
        guard let digest = SHA256Digest(hex: request.target.components[1]) else {
            throw TransferError.malformed("a file is named by the 64 hexadecimal digits of its SHA-256")
        }
        let fileKey = FileTable.Key(sender: key, number: try request.number(), digest: digest)
        if request.method == .POST { return try await takeOffer(request, fileKey, from: member) }
        guard let file = files.file(fileKey) else { throw TransferError.withdrawn }
        guard request.method == .DELETE else { return try await file.receive(request) }
        file.fail(.withdrawn)
        return HTTPResponse(status: .noContent)
    }

    private func takeOffer(_ request: HTTPRequest, _ fileKey: FileTable.Key, from member: MemberID) async throws
        -> HTTPResponse
    {
        let offer = try FileOffer(parsing: try await request.body.collect(upTo: FileOffer.maximumSize))
        let files = files
        for old in files.earlier(than: fileKey) { await old.endForSuccessor() }
        let (file, isNew) = try files.file(fileKey, from: member, atMost: limits.filesPerMember) {
            FileReception(offer, fileKey.digest, from: member, limits) { file in
                for other in files.waiting(for: fileKey.digest, besides: file) { await other.endForSuccessor() }
            }
        }
        if isNew {
            do {
                let isTaken: Void? = try await within(limits.offerHold) {
                    try await self.deliver(.file(IncomingFile(file), from: member))
                }
                guard isTaken != nil else { throw TransferError.busy }
                file.delivered()
            } catch {
                // The application does not know the file: the sender will offer it again.
                files.forget(fileKey)
                file.fail(.busy)
                throw error
            }
        }
        return try await file.answer()
    }
}
