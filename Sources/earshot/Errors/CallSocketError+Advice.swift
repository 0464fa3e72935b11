// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall

extension CallSocketError: AdvisedError {
    static let start = "Start one: earshot host"
    private static let sendFile = "Send it as a file: earshot call send FILE"

    var advice: String? {
        switch self {
        case .foreignFolder(let path): "Remove it, if it is not needed: ls -ld \(path)"
        case .pathTooLong: "Set XDG_RUNTIME_DIR to a shorter path."
        case .system: "Set XDG_RUNTIME_DIR to a writable folder."
        case .noThread: "See how many threads run: ps -eLf | wc -l"
        case .notRunning: Self.start
        case .noAnswer: "See whether it is stopped: ps -C earshot -o pid,stat,args"
        case .closed: "See whether it runs: earshot call"
        case .notACall: "See which program it is: ss -lxp"
        case .otherProtocol, .unreadableAnswer: "Use the same version of Earshot in both terminals."
        case .lineTooLong: nil  // control() adds the advice for the command
        case .refused(let refusal): Self.advice(refusal.code)
        }
    }

    /// Returns the advice for a command that is too long for the socket; nil if there is none.
    static func advice(forLongCommand command: LiveCallCommand) -> String? {
        switch command {
        case .say: sendFile
        case .setAccompaniment: "Name a folder or a playlist."
        default: nil
        }
    }

    private static func advice(_ code: String) -> String? {
        switch code {
        case "unknown-command": "The call runs an earlier Earshot. Restart it with this version."
        case "no-participant": "List participants: earshot call"
        case "no-join-request": "List guests: earshot call"
        case "not-recording": "Begin one: earshot call record"
        case "folder": RecordingSentences.otherFolder
        case "already-recording": "End it: earshot call stop-recording"
        case "not-host": "See who is the host: earshot call"
        case "no-voice-processing": "Start the call with --voice-processing auto."
        case "no-monitor": "Start the call without --separate-input."
        case "device-unavailable": "List devices: earshot devices"
        case "no-song": "Begin a duet: earshot duet host SONG"
        case "song-plays": "Choose the next song after this one."
        case "song-missing", "not-started", "no-mix": "See: earshot call duet"
        case "take-over": "Begin another: earshot call duet again"
        case "no-time": "Try again in a second."
        case "no-space": "Delete files, or start the duet with another --folder."
        case "no-accompaniment": "Load one: earshot call accompany FILE"
        case "no-effect", "no-parameter", "no-preset", "wrong-value": "List effects and parameters: earshot effects"
        case "no-receiver": "Wait until a participant joins."
        case "messages-waiting": "Try again in a few seconds."
        case "too-many-clients": "End another terminal's earshot call watch."
        case "message-too-long": sendFile
        default: nil
        }
    }

    /// The exit status of a command that ends with this error.
    var exitStatus: Int32 {
        switch self {
        case .closed: Failure.lost
        case .lineTooLong: Failure.data
        case .refused(let refusal):
            switch refusal.code {
            case "no-participant", "no-join-request": Failure.noHost
            case "no-effect", "no-parameter", "no-preset", "wrong-value": Failure.usage
            case "empty-message", "message-too-long": Failure.data
            case "messages-waiting": Failure.lost
            case "folder", "no-space": Failure.cannotCreate
            default: Failure.unavailable
            }
        case .foreignFolder, .pathTooLong, .system, .noThread, .notRunning, .noAnswer, .notACall, .otherProtocol,
            .unreadableAnswer:
            Failure.unavailable
        }
    }
}
