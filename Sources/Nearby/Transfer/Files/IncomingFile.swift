// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms

/// A file that a member of the room offers. It comes when it is accepted; let go of undecided, it is declined. Any task.
public final class IncomingFile: Sendable {
    private let reception: FileReception

    init(_ reception: FileReception) { self.reception = reception }

    deinit { reception.letGo() }

    /// The offering member.
    public var member: MemberID { reception.member }
    /// The final name: the sender's, made safe for any folder.
    public var name: String { reception.name }
    /// Bytes.
    public var size: Int64 { reception.size }
    /// Its SHA-256, which is verified at the end.
    public var hash: SHA256Digest { reception.digest }
    /// The progress, ten times a second at most; for one reader. It ends when the file is there, or will not be.
    public var progress: AsyncStream<FileProgress> { reception.progress }

    /// Lets it come. What is there of it already, from an earlier time and from whomever, is not sent again.
    /// - Parameter folder: on the disk; the file has mode 0600, and never takes another's place.
    /// - Throws: ``TransferError/noSuchFolder(_:)``, ``TransferError/notWritable(_:_:)``, ``TransferError/noSpace(_:needed:free:)``,
    ///   ``TransferError/alreadyArriving(_:)``: the offer still stands, and another folder may do. Or why it stands no more.
    public func accept(into folder: String) async throws(TransferError) { try await reception.accept(into: folder) }

    /// Says no, or, while it comes, that it is no longer wanted: what has come is removed.
    public func decline() { reception.decline() }

    /// Waits until it is there.
    /// - Returns: its path.
    /// - Throws: the reason that the file is incomplete. Except after ``decline()`` the received part is kept and resumed when the
    ///   file is sent again.
    public func finished() async throws(TransferError) -> String { try await reception.finished() }
}
