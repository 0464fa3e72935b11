// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import Glibc
import NIOHTTP1

/// The reason that a message, a stream or a file does not arrive, on either side.
public enum TransferError: Error, Hashable, Sendable {
    // The message or file is empty.

    /// There is nothing in it.
    case empty
    /// A message has more bytes than so many.
    case tooLong(limit: Int)
    /// There is no such file.
    case noSuchFile(String)
    /// It is a directory.
    case isDirectory(String)
    /// It is a pipe, a device or a socket.
    case notRegular(String)
    /// The system does not let it be read; `errno`.
    case unreadable(String, CInt)
    /// The file was changed while it was sent.
    case changed(String)

    // The destination is no folder.

    /// There is no such folder.
    case noSuchFolder(String)
    /// The folder is not writable; `errno`.
    case notWritable(String, CInt)
    /// The folder's disk has less room than is needed; in bytes.
    case noSpace(String, needed: Int64, free: Int64)
    /// The disk took no more; `errno`.
    case disk(String, CInt)
    /// The same file is coming already into the same folder.
    case alreadyArriving(String)

    // Between the two.

    /// The member is no native one of this room, or has left it.
    case gone
    /// This side has left the room.
    case ended
    /// The member could not be reached for a minute; what was wrong at last.
    case unreachable(String)
    /// Another key answers at the member's address.
    case wrongKey(String)
    /// The connection was cut.
    case cut
    /// The remote peer said no, or has had enough of a file.
    case declined
    /// The remote peer takes nothing more of a stream.
    case closed
    /// The sender took it back.
    case withdrawn
    /// The task was cancelled.
    case cancelled
    /// Too many transfers are open.
    case busy
    /// The received bytes differ from the sent ones.
    case damaged
    /// The receiver's disk is full.
    case theirDiskFull
    /// The receiver could not write it down.
    case theirDisk
    /// Another code, or one that the other side should not have sent.
    case refused(code: String, message: String)
}

extension TransferError: CustomStringConvertible {
    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .empty: "there is nothing to send"
        case .tooLong(let limit): "a message has \(limit) bytes at most"
        case .noSuchFile(let path): "there is no file \(path)"
        case .isDirectory(let path): "\(path) is a directory"
        case .notRegular(let path): "\(path) is no ordinary file"
        case .unreadable(let path, let code): "\(path) cannot be read: \(Self.systemText(code))"
        case .changed(let path): "\(path) was changed while it was sent"
        case .noSuchFolder(let path): "there is no folder \(path)"
        case .notWritable(let path, let code): "nothing can be put into \(path): \(Self.systemText(code))"
        case .noSpace(let path, let needed, let free):
            "\(path) has \(ByteCount(free)) of room and the file needs \(ByteCount(needed))"
        case .disk(let path, let code): "\(path) takes no more: \(Self.systemText(code)); what has come is kept"
        case .alreadyArriving(let path): "the same file is coming into \(path) already"
        case .gone: "that member is not in the room"
        case .ended: "you have left the room"
        case .unreachable(let why): "that member could not be reached: \(why)"
        case .wrongKey(let why): why
        case .cut: "the connection was cut"
        case .declined: "they did not take it"
        case .closed: "they take nothing more of it"
        case .withdrawn: "the sender took it back, or is gone"
        case .cancelled: "it was cancelled"
        case .busy: "too much waits with that member"
        case .damaged: "what arrived is not what was sent"
        case .theirDiskFull: "their disk is full"
        case .theirDisk: "they could not write it down"
        case .refused(_, let message): "they say: \(message)"
        }
    }

    // Unsafe in this file: the system's words for an error are a C string.
    private static func systemText(_ code: CInt) -> String { unsafe String(cString: strerror(code)) }
}

/// A receiver that did not get the transfer, and the reason.
public struct TransferFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Never empty.
    public let reasons: [MemberID: TransferError]

    init(_ reasons: [MemberID: TransferError]) { self.reasons = reasons }

    /// One line for each member.
    public var description: String {
        reasons.sorted { $0.key < $1.key }.map { "member \($0): \($1)" }.joined(separator: "\n")
    }
}

/// A number of bytes for people: `512 bytes`, `3.2 MB`.
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
