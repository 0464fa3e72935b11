// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall
import Foundation

/// The sentences about the volumes of participants and of the whole playback.
enum VolumeSentences {
    // MARK: Units

    /// Returns a volume in decibels; minus infinity for 0.
    static func decibels(_ factor: Float) -> Double { 20 * log10(Double(factor)) }

    static func factor(_ decibels: Double) -> Float { Float(pow(10, decibels / 20)) }

    /// Returns a volume as `-4 dB`, `0 dB` or `+2 dB`.
    static func text(_ factor: Float) -> String {
        guard factor > 0 else { return "silent" }
        let rounded = decibels(factor).rounded()
        return rounded == 0 ? "0 dB" : String(format: "%+.0f dB", rounded)
    }

    /// Returns the volume of a participant, if it is not the default; otherwise nil.
    static func change(_ volume: Float, isHeard: Bool) -> String? {
        isHeard && volume == 1 ? nil : text(volume, isHeard: isHeard)
    }

    static func text(_ volume: Float, isHeard: Bool) -> String { isHeard ? text(volume) : "not heard" }

    // MARK: Sentences

    static let unselected = "Select a participant first: ↑ or ↓"
    static let selectionLost = "The selected participant left."

    static func volume(of participant: Participant) -> String {
        "\(participant.name): \(text(participant.volume, isHeard: participant.isHeard))"
    }

    static func volume(_ volume: Float, of name: String) -> String { "\(name): \(text(volume))" }

    static func playback(_ volume: Float) -> String { "Playback: \(text(volume))" }

    /// Returns the sentence whether the selected participant is heard, with the key that changes it.
    static func heard(_ participant: Participant) -> String {
        participant.isHeard
            ? heard(participant.name.text)
            : "You do not hear \(participant.name). Press v to hear \(participant.name) again."
    }

    static func heard(_ name: String) -> String { "You hear \(name)." }

    static func unheard(_ name: String) -> String { "You do not hear \(name)." }

    /// - Parameter command: the command by which the user hears the participant again.
    static func unheard(_ name: String, command: String) -> String {
        "\(unheard(name)) To hear \(name) again: \(command)"
    }

    /// Returns the sentence about a participant who joined with a remembered volume; nil for the default volume.
    /// - Parameter hasKeys: true if the user can change the volume by keys.
    static func remembered(_ participant: Participant, hasKeys: Bool) -> String? {
        guard !participant.isHeard else {
            return participant.volume == 1 ? nil : "\(volume(of: participant)), as before."
        }
        let advice = hasKeys ? " To hear \(participant.name): select with ↑ or ↓, then press v." : ""
        return "You do not hear \(participant.name), as before.\(advice)"
    }
}
