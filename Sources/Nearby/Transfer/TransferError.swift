// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import Glibc
import NIOHTTP1

/// The reason that a message, a stream or a file does not arrive, on either side.
public enum TransferError: Error, Hashable, Sendable {
    // Errors of the message or file.

    /// The message is empty.
    case empty
    /// The message exceeds the limit in bytes.
    case tooLong(limit: Int)
    /// The file does not exist.
    case noSuchFile(String)
    /// The file is a directory.
    case isDirectory(String)
    /// The file is a pipe, a device or a socket.
    case notRegular(String)
    /// The file cannot be read; the second value is an `errno`.
    case unreadable(String, CInt)
    /// The file changed while it was sent.
    case changed(String)

    // Errors of the folder.

    /// The folder does not exist.
    case noSuchFolder(String)
    /// No file can be created in the folder; the second value is an `errno`.
    case notWritable(String, CInt)
    /// The folder's disk has less free space than the file needs; both are in bytes.
    case noSpace(String, needed: Int64, free: Int64)
    /// Writing to the folder's disk failed; the second value is an `errno`.
    case disk(String, CInt)
    /// The same file is already arriving in this folder.
    case alreadyArriving(String)

    // Errors of the connection and the remote peer.

    /// The member is not native, not in this room, or has left it.
    case gone
    /// The local peer has left the room.
    case ended
    /// The member could not be reached for a minute; the value is the last error.
    case unreachable(String)
    /// Another key answers at the member's address.
    case wrongKey(String)
    /// The connection ended too early.
    case cut
    /// The receiver declined, or cancelled a file.
    case declined
    /// The receiver closed the stream, or the stream was already ended here.
    case closed
    /// The sender has cancelled the file, has fallen silent before it was accepted, or sends it anew.
    case withdrawn
    /// The transfer, or the task that waits for it, was cancelled.
    case cancelled
    /// Too many transfers with the member are open, or the receiver's application does not take more.
    case busy
    /// The received bytes differ from the sent ones.
    case damaged
    /// The receiver's disk is full.
    case remoteDiskFull
    /// The receiver could not write the file.
    case remoteDisk
    /// The remote peer has answered with another error code; `message` is its text.
    case refused(code: String, message: String)
}

extension TransferError: CustomStringConvertible {
    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .empty: "there is nothing to send"
        case .tooLong(let limit): "the message is longer than \(limit) bytes"
        case .noSuchFile(let path): "\(path): no such file"
        case .isDirectory(let path): "\(path) is a directory"
        case .notRegular(let path): "\(path) is not a regular file"
        case .unreadable(let path, let code): "\(path) cannot be read: \(Self.systemText(code))"
        case .changed(let path): "\(path) changed while it was being sent"
        case .noSuchFolder(let path): "\(path): no such folder"
        case .notWritable(let path, let code): "cannot write to \(path): \(Self.systemText(code))"
        case .noSpace(let path, let needed, let free):
            "\(path) has \(ByteCount(free)) of free space, but the file needs \(ByteCount(needed))"
        case .disk(let path, let code): "\(path) cannot be written: \(Self.systemText(code)); the received part is kept"
        case .alreadyArriving(let path): "the same file is already being received into \(path)"
        case .gone: "that member is not in the room"
        case .ended: "you have left the room"
        case .unreachable(let why): "that member could not be reached: \(why)"
        case .wrongKey(let why): why
        case .cut: "the connection was cut"
        case .declined: "they declined it"
        case .closed: "they do not want the rest of it"
        case .withdrawn: "the sender withdrew it or has left"
        case .cancelled: "it was cancelled"
        case .busy: "too many messages are waiting at that member"
        case .damaged: "the received file differs from the sent one"
        case .remoteDiskFull: "their disk is full"
        case .remoteDisk: "they could not save it"
        case .refused(_, let message): "they say: \(message)"
        }
    }

    // Unsafe in this file: the system's message for an error is a C string.
    private static func systemText(_ code: CInt) -> String { unsafe String(cString: strerror(code)) }
}

/// The receivers that did not get the transfer, with the reasons.
public struct TransferFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reasons by member; never empty.
    public let reasons: [MemberID: TransferError]

    init(_ reasons: [MemberID: TransferError]) { self.reasons = reasons }

    /// One line for each member.
    public var description: String {
        reasons.sorted { $0.key < $1.key }.map { "member \($0): \($1)" }.joined(separator: "\n")
    }
}

/// A number of bytes for display: `512 bytes`, `3.2 MB`.
struct ByteCount: CustomStringConvertible {
    let bytes: Int64

    init(_ bytes: Int64) { self.bytes = bytes }

    var description: String {
        guard bytes >= 1_000 else { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
        var tenths = (bytes + 50) / 100
        for unit in ["kB", "MB", "GB"] {
            if tenths < 10_000 { return "\(tenths / 10).\(tenths % 10) \(unit)" }
            tenths = (tenths + 500) / 1_000
        }
        return "\(tenths / 10).\(tenths % 10) TB"
    }
}
