// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall
import EarshotRooms

/// Chooses the sentences about the participants' voices in a local recording. No sentence is repeated while a participant's
/// answer stays the same.
struct RecordingNotices {
    /// True from ``begin(with:)`` to ``end()``: the user knows of the recording.
    private var isRecording = false
    /// The answers that the user knows, nil before an answer.
    private var knownAnswers: [MemberID: Bool?] = [:]

    /// Handles the beginning of a recording.
    /// - Parameter agreed: the participants who agreed to a take, and so to its recording. Their answers may still be on the way.
    mutating func begin(with participants: [Participant], agreed: Set<MemberID> = []) -> [String] {
        isRecording = true
        knownAnswers = agreed.reduce(into: [:]) { $0.updateValue(true, forKey: $1) }
        return sentences(aboutSilenceOf: participants.filter { !agreed.contains($0.id) || $0.allowsRecording == false })
    }

    /// Handles the end of the recording.
    mutating func end() { isRecording = false }

    /// Handles a participant who joined, perhaps before ``begin(with:)``.
    mutating func noteArrival(of participant: Participant) -> [String] {
        isRecording ? sentences(aboutSilenceOf: [participant]) : []
    }

    /// Handles a participant's answer, perhaps before ``begin(with:)``.
    mutating func noteAnswer(of participant: Participant) -> [String] {
        guard isRecording else { return [] }
        guard participant.allowsRecording == true else { return sentences(aboutSilenceOf: [participant]) }
        return learnAnswer(of: participant) ? [RecordingSentences.allowed(participant.name.text)] : []
    }

    /// Returns the sentences about the participants whose voices are silent, as far as the user does not know.
    private mutating func sentences(aboutSilenceOf participants: [Participant]) -> [String] {
        var (undecided, declined): ([String], [String]) = ([], [])
        for participant in participants where participant.allowsRecording != true && learnAnswer(of: participant) {
            if participant.allowsRecording == nil {
                undecided.append(participant.name.text)
            } else {
                declined.append(participant.name.text)
            }
        }
        return RecordingSentences.silent(undecided: undecided, declined: declined)
    }

    /// Notes that the user knows the participant's answer. Returns false if the user knew it.
    private mutating func learnAnswer(of participant: Participant) -> Bool {
        let answer = participant.allowsRecording
        if let known = knownAnswers[participant.id], known == answer { return false }
        knownAnswers.updateValue(answer, forKey: participant.id)
        return true
    }
}
