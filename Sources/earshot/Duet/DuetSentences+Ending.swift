// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall
import EarshotRooms

/// The sentences at the end of a duet, and of its program.
extension DuetSentences {
    /// The others have left after the song.
    static func alone(hasMix: Bool) -> String {
        "Nobody else is here now. Keys: \(hasMix ? "Enter listen to the mix, " : "")q leave"
    }

    /// - Parameter isInterrupted: true if the user has left by Ctrl-C.
    static func finishing(isInterrupted: Bool) -> String {
        "Finishing the takes. \(isInterrupted ? "Another Ctrl-C" : "Ctrl-C") leaves at once."
    }

    /// The files that are awaited before the program leaves.
    /// - Parameters:
    ///   - isOwn: true if only the own voice is awaited.
    ///   - name: returns a singer's name.
    static func pending(_ status: LiveDuetStatus, isOwn: Bool = false, name: (MemberID) -> String) -> String {
        func list(_ members: Set<MemberID>) -> String {
            RecordingSentences.list(members.sorted().map { TerminalText.sanitized(name($0)) })
        }
        let (awaited, receivers) = (isOwn ? [] : status.awaitedSingers, status.receivers)
        if awaited.isEmpty {
            return receivers.isEmpty ? "Mixing." : "Sending your voice to \(list(receivers))."
        }
        let words = "Waiting for \(awaited.count == 1 ? "the voice" : "the voices") of \(list(awaited))."
        return receivers.isEmpty ? words : "\(words) Sending yours to \(list(receivers))."
    }

    /// The mixes of all takes and songs.
    static func mixes(_ paths: [String]) -> String {
        (["Mixes of this duet:"] + paths.map { "  \(TerminalText.sanitizedLine($0))" }).joined(separator: "\n")
    }

    /// Returns a sentence for each take that has no mix.
    /// - Parameter hasBegun: true if a song has begun. Without a file, nothing of it was saved.
    static func withoutMix(_ results: [DuetTakeResult], hasBegun: Bool) -> [String] {
        if results.isEmpty { return hasBegun ? [nothing] : [] }
        return results.compactMap { result in
            switch result {
            case .mix: nil
            case .voices(let folder): "No mix was saved. The voices are in \(folder)."
            case .recording(let folder): "No mix was saved. Your voice is in \(folder)."
            case .nothing: results.count == 1 ? nothing : "Nothing of another take was saved."
            }
        }
    }

    private static let nothing = "Nothing was saved."
}
