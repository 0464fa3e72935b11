// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Foundation
import NIOHTTP1

/// The errors on the wire.
extension TransferError {
    /// The answer to a request that failed with this error. Its message is for the user at the remote peer.
    var problem: HTTPProblem {
        func problem(_ status: HTTPResponseStatus, _ code: String, _ message: String) -> HTTPProblem {
            HTTPProblem(status: status, code: code, message: message)
        }
        return switch self {
        case .gone, .ended: problem(.forbidden, "not-member", "you are not in this room")
        case .declined: problem(.forbidden, "declined", "it was declined")
        case .closed: problem(.gone, "closed", "the rest of it is not wanted")
        case .busy: problem(.tooManyRequests, "busy", "too many messages are waiting")
        case .tooLong(let limit): problem(.payloadTooLarge, "too-large", "the message is longer than \(limit) bytes")
        case .damaged: problem(.unprocessableEntity, "wrong-hash", "the received file has a different hash")
        case .noSpace: problem(.insufficientStorage, "disk-full", "the disk is full")
        case .disk(_, ENOSPC), .disk(_, EDQUOT): problem(.insufficientStorage, "disk-full", "the disk is full")
        case .disk, .notWritable, .noSuchFolder: problem(.internalServerError, "disk", "it could not be saved")
        case .withdrawn: problem(.notFound, "no-such-offer", "no such file was offered")
        case .cut: problem(.badRequest, "incomplete", "it ended early")
        case .empty: problem(.badRequest, "malformed", "an empty message")
        case .refused(let code, let message): problem(.badRequest, code, message)
        default: problem(.internalServerError, "internal", "an internal error occurred")
        }
    }

    static func malformed(_ what: String) -> TransferError { .refused(code: "malformed", message: what) }

    /// The maximum bytes of an error's body that are read.
    static let maximumProblemSize = 4_096

    /// Creates the error of the remote peer's answer.
    init(status: HTTPResponseStatus, body: [UInt8]) {
        struct Problem: Decodable {
            let error: String
            let message: String?
        }
        let problem = try? JSONDecoder().decode(Problem.self, from: Data(body.prefix(Self.maximumProblemSize)))
        self =
            switch problem?.error {
            case "not-member": .gone
            case "declined": .declined
            case "closed": .closed
            case "busy": .busy
            case "wrong-hash": .damaged
            case "incomplete": .cut
            case "disk-full": .remoteDiskFull
            case "disk": .remoteDisk
            case "no-such-offer": .withdrawn
            case let code?:
                .refused(
                    code: AnnouncedText.printable(code),
                    message: AnnouncedText.printable(problem?.message ?? code, limit: 200))
            case nil: .refused(code: "unreadable", message: "HTTP status \(status.code)")
            }
    }

    /// True if a remote peer may answer with this error because its roster lacks the local peer for a moment.
    var isOfOlderRoster: Bool {
        switch self {
        case .gone, .refused(code: "not-found", _): true
        default: false
        }
    }

    /// Creates the final error of a request; nil if another attempt may succeed.
    init?(final error: any Error) {
        switch error {
        case let error as TransferError: self = error
        case is CancellationError: self = .cancelled
        case let error as HTTPSError:
            guard case .wrongKey = error else { return nil }
            self = .wrongKey(error.description)
        default: return nil
        }
    }

    /// Creates the error to report when no further attempt is made.
    init(_ error: any Error) {
        self =
            switch error {
            case HTTPSError.cut, is MailboxClosed, is ConnectionFailure: .cut
            case let error as HTTPSError: TransferError(final: error) ?? .unreachable(error.description)
            default: TransferError(final: error) ?? .cut
            }
    }
}
