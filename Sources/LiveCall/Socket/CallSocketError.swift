// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The reason that the socket of a call cannot be created or used.
package enum CallSocketError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The folder of the sockets is not a folder of this user.
    case foreignFolder(String)
    /// The path is too long for a socket.
    case pathTooLong(String)
    /// The system refused; `code` is an errno.
    case system(path: String, code: Int32)
    /// No thread could be created; `code` is an errno.
    case noThread(code: Int32)
    /// No call listens.
    case notRunning
    /// The call does not answer within the time limit.
    case noAnswer
    /// The call has ended, or has disconnected this client.
    case closed
    /// The program that listens is not a call, or is another user's.
    case notACall
    /// The call uses another version of the protocol; `program` is the version of its program.
    case otherProtocol(program: String, version: Int)
    /// The call sent an answer that this version cannot read; `program` is the version of its program.
    case unreadableAnswer(program: String)
    /// The line exceeds ``CallSocket/requestByteLimit``.
    case lineTooLong
    /// The call refused the request.
    case refused(ErrorDocument)

    /// One sentence that says what happened.
    package var description: String {
        switch self {
        case .foreignFolder(let path): "\(path) is not a folder of this user"
        case .pathTooLong(let path): "The path \(path) is too long for a socket"
        case .system(let path, let code): "\(path): \(String(cString: strerror(code)))"
        case .noThread(let code): "Cannot create a thread: \(String(cString: strerror(code)))"
        case .notRunning: "No call is running"
        case .noAnswer: "The call does not answer"
        case .closed: "The call has closed the connection"
        case .notACall: "The program at the socket is not a call of yours"
        case .otherProtocol(let program, let version):
            "The call runs Earshot \(program) with version \(version) of the protocol, not \(CallSocket.version)"
        case .unreadableAnswer(let program): "The call runs Earshot \(program), whose answer cannot be read"
        case .lineTooLong: "The command is longer than \(CallSocket.requestByteLimit) bytes"
        case .refused(let refusal): refusal.text
        }
    }
}
