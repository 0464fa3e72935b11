// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall
import Foundation

/// The sentences about recordings of a call.
enum RecordingSentences {
    // MARK: The local participant records

    /// - Parameters:
    ///   - names: the names of the remote participants.
    ///   - hasKeys: true if the user can stop the recording by a key.
    static func started(_ folder: String, seenBy names: [String], hasKeys: Bool) -> String {
        let viewers =
            switch names.count {
            case 0: "Guests will see that you record."
            case 1: "\(list(names)) sees that you record."
            default: "\(list(names)) see that you record."
            }
        return "\(started(folder)) \(viewers)\(hasKeys ? " Press r to stop." : "")"
    }

    static func started(_ folder: String) -> String { "Recording to \(folder)." }

    /// Returns sentences about the participants whose voices are silent in the recording.
    static func silent(undecided: [String], declined: [String]) -> [String] {
        var sentences: [String] = []
        if let name = undecided.first {
            sentences.append(
                undecided.count == 1
                    ? "\(name) has not answered. Until then \(name) is silent in the recording."
                    : "\(list(undecided)) have not answered. Until then they are silent in the recording.")
        }
        if !declined.isEmpty {
            sentences.append(
                "\(list(declined)) declined and \(declined.count == 1 ? "is" : "are") silent in the recording.")
        }
        return sentences
    }

    static let otherFolder = "Use another folder: earshot call record FOLDER"

    /// Returns the sentences about a recording whose folder is not writable; nil for another refusal, which needs none.
    static func refused(_ refusal: CommandRefusal) -> String? {
        guard case .folderNotWritable = refusal else { return nil }
        return ErrorText.join(ErrorDocument(refusal).text, otherFolder)
    }

    static let awaited = "Recording starts when another participant joins."
    static let cancelled = "Recording cancelled."

    static func allowed(_ name: String) -> String { "\(name) allows recording." }
    static func declined(_ name: String) -> String { "\(name) does not allow recording." }

    static func ended(_ result: CallRecordingResult) -> String {
        ended(result.folder, seconds: result.seconds, gapSeconds: result.gapSeconds)
    }

    static func ended(_ folder: String, seconds: Double, gapSeconds: Double) -> String {
        guard seconds > 0 else { return "Nothing recorded: the call had no sound." }
        let ended = "Recorded \(FileFormatting.clock(seconds)) to \(folder)"
        guard gapSeconds >= 0.05 else { return ended }
        return ended
            + String(
                format: "\nSilent parts: %.1f s, all voices together. recording.json lists them.", gapSeconds)
    }

    // MARK: Another participant records

    /// Returns the sentence about a participant that began to record.
    /// - Parameters:
    ///   - isAllowed: the local participant's answer; nil before the answer, or without a voice.
    ///   - isAsked: true if the local participant answers on a terminal; otherwise an option answers.
    ///   - command: the command that runs, which has the option: `host` or `join`.
    static func began(_ name: String, isAllowed: Bool?, isAsked: Bool, command: String) -> String {
        switch isAllowed {
        case nil: return began(name)
        case true?: return "\(name) is recording the call, including your voice."
        case false?:
            let hint = isAsked ? "" : " To allow it, \(command) with --allow-recording yes."
            return "\(name) is recording the call without your voice.\(hint)"
        }
    }

    static func began(_ name: String) -> String { "\(name) is recording the call." }
    static func stopped(_ name: String) -> String { "\(name) stopped recording." }

    /// Returns the question whether everyone in the room may record the local voice.
    /// - Parameters:
    ///   - names: the names of the participants who record.
    ///   - hasJoinRequests: true if `y` and `n` answer join requests first.
    static func question(_ names: [String], hasJoinRequests: Bool) -> String {
        "\(request(names)) y yes, n no\(hasJoinRequests ? " (answer the join requests first)" : "")"
    }

    /// Returns the question without its keys.
    static func request(_ names: [String]) -> String {
        "\(list(names)) \(names.count == 1 ? "wants" : "want") to record. Let everyone here record your voice?"
    }

    static func answered(isAllowed: Bool) -> String {
        isAllowed ? "Your voice will be recorded." : "Your voice is not recorded."
    }

    // MARK: Text

    /// Returns names as `Ann`, `Ann and Ben` or `Ann, Ben and Cleo`.
    static func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " and \(last)"
    }
}
