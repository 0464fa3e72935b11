// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall

/// The reason that a command stopped.
enum EndReason {
    /// Everything was played.
    case finished
    /// The measurement is complete.
    case measured
    /// The user's time limit has passed.
    case duration
    case interrupted
    /// The user ended the command with a key.
    case quit
    /// All others have left the room.
    case alone
    case failed(Failure)

    /// Returns the text for the user, and for the field `ended` of a JSON report.
    /// - Parameter quit: the word for ``quit`` in the command's texts.
    func text(quit: String = "quit") -> String {
        switch self {
        case .finished: "finished"
        case .measured: "measured"
        case .duration: "duration"
        case .interrupted: "interrupted"
        case .quit: quit
        case .alone: "everybody left"
        case .failed(let failure): failure.line
        }
    }

    /// Returns the reason in brackets after a space, to append to a sentence. Returns no text for a failure, which is printed on
    /// a line of its own.
    /// - Parameter quit: the word for ``quit`` in the command's texts.
    func bracketed(quit: String = "quit") -> String {
        if case .failed = self { "" } else { " (\(text(quit: quit)))" }
    }

    /// Throws the failure, or the exit status of an interruption. Does nothing for any other reason.
    /// - Parameter endsByInterrupt: true if Ctrl-C is the normal end of the command.
    func throwUnlessSuccessful(endsByInterrupt: Bool = false) throws {
        switch self {
        case .failed(let failure): throw failure
        case .interrupted: if !endsByInterrupt || !Interrupt.isFromKeyboard { throw ExitCodes.interrupted }
        case .finished, .measured, .duration, .quit, .alone: break
        }
    }
}

extension EndReason {
    /// Creates the reason for the end of a call.
    init(_ ending: LiveCallEnding) {
        switch ending {
        case .left: self = .quit
        case .duration: self = .duration
        case .alone: self = .alone
        case .lastParticipantLost, .room, .session, .device, .notPrepared, .noSound, .codec, .noCommonFormat:
            self = .failed(Failure(ending))
        }
    }
}
