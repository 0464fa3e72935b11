// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms

/// A file that a member offers. The member sends it once it is accepted. If this object is released before that, the file is
/// declined. Any task.
public final class IncomingFile: Sendable {
    private let reception: FileReception

    init(_ reception: FileReception) { self.reception = reception }

    deinit { reception.handleRelease() }

    /// The offering member.
    public var member: MemberID { reception.member }
    /// The name for the stored file: the sender's name, made safe for any folder. A number is added if the name exists in the
    /// folder.
    public var name: String { reception.name }
    /// The size in bytes.
    public var size: Int64 { reception.size }
    /// The file's SHA-256, which is verified when all bytes have arrived.
    public var hash: SHA256Digest { reception.digest }
    /// The progress, at most ten times a second, for one reader. It ends when the file has arrived or failed.
    public var progress: AsyncStream<FileProgress> { reception.progress }

    /// Accepts the file. Bytes from an earlier transfer, by any sender, are not sent again.
    /// - Parameter folder: the folder for the file. The file has mode 0600 and never replaces another one.
    /// - Throws: ``TransferError/noSuchFolder(_:)``, ``TransferError/notWritable(_:_:)``,
    ///   ``TransferError/noSpace(_:needed:free:)``, ``TransferError/alreadyArriving(_:)``: the offer remains, and another folder
    ///   may work. Otherwise the reason that the offer has ended.
    public func accept(into folder: String) async throws(TransferError) { try await reception.accept(into: folder) }

    /// Declines the file, or cancels it while it arrives; the received part is deleted.
    public func decline() { reception.decline() }

    /// Waits until the file has arrived.
    /// - Returns: the file's path.
    /// - Throws: the reason that the file is incomplete. Except after ``decline()`` the received part is kept and resumed when
    ///   the file is sent again.
    public func finished() async throws(TransferError) -> String { try await reception.finished() }
}
