// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall
import Foundation

/// The sentences about recordings of a call.
enum RecordingSentences {
    // MARK: The local participant records

    /// - Parameters:
    ///   - names: the names of the remote participants.
    ///   - hasKeys: true if the user can end the recording by a key.
    static func started(_ folder: String, seenBy names: [String], hasKeys: Bool) -> String {
        let viewers =
            switch names.count {
            case 0: "Guests will see this."
            case 1: "\(list(names)) sees this."
            default: "\(list(names)) see this."
            }
        return "Recording to \(folder). \(viewers)\(hasKeys ? " Press r to end." : "")"
    }

    /// Returns sentences about the participants whose voices are silent in the recording.
    static func silent(undecided: [String], declined: [String]) -> [String] {
        var sentences: [String] = []
        if let name = undecided.first {
            sentences.append(
                undecided.count == 1
                    ? "\(name) has not answered yet: silence is recorded instead of \(name)."
                    : "\(list(undecided)) have not answered yet: silence is recorded instead of them.")
        }
        if !declined.isEmpty { sentences.append("\(list(declined)) declined: the recording has silence instead.") }
        return sentences
    }

    static let awaited = "The recording begins when another participant joins."
    static let cancelled = "Nothing is recorded."

    static func allowed(_ name: String) -> String { "\(name) allows recording." }

    static func ended(_ result: CallRecordingResult) -> String {
        guard result.seconds > 0 else { return "Recorded nothing: the call had no sound." }
        let ended = "Recorded \(FileFormatting.clock(result.seconds)): \(result.folder)"
        guard result.gapSeconds >= 0.05 else { return ended }
        return ended + String(format: "\nGaps: %.1f s, listed in recording.json.", result.gapSeconds)
    }

    // MARK: Another participant records

    /// Returns the sentence about a participant that began to record.
    /// - Parameters:
    ///   - isAllowed: the local participant's answer; nil before the answer, or without a voice.
    ///   - isAsked: true if the local participant answers on a terminal; otherwise an option answers.
    static func began(_ name: String, isAllowed: Bool?, isAsked: Bool) -> String {
        switch isAllowed {
        case nil: "\(name) records the call."
        case true?: "\(name) records the call with your voice."
        case false?:
            "\(name) records the call without your voice.\(isAsked ? "" : " To allow it: --allow-recording yes")"
        }
    }

    static func stopped(_ name: String) -> String { "\(name) ended the recording." }

    /// - Parameter hasJoinRequests: true if `y` and `n` answer join requests first.
    static func question(_ names: [String], hasJoinRequests: Bool) -> String {
        let order = hasJoinRequests ? "after the guests who ask: " : ""
        return "May \(list(names)) record your voice? \(order)y yes, n no"
    }

    static func answered(isAllowed: Bool) -> String {
        isAllowed ? "Your voice is recorded." : "Your voice is not recorded."
    }

    // MARK: Text

    /// Returns names as `Ann`, `Ann and Ben` or `Ann, Ben and Cleo`.
    static func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " and \(last)"
    }
}
