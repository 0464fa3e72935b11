// SPDX-License-Identifier: Apache-2.0

/// The reason that the delay could not be measured.
public enum DelayMeasurementError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The sent sound is silent or nearly silent.
    case sentIsSilent
    /// The heard sound is silent or nearly silent.
    case heardIsSilent
    /// The sent sound is shorter than half a window.
    case tooShort
    /// The heard sound is silent at the times when the sent sound could have arrived.
    case noOverlap
    /// No searched delay fits well: the heard sound is another one, or too distorted.
    case noMatch
    /// The sound repeats within the search range, so that several delays fit equally well.
    case ambiguous

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .sentIsSilent: "the sent sound is silent"
        case .heardIsSilent: "the heard sound is silent"
        case .tooShort: "the sent sound is too short to measure a delay"
        case .noOverlap: "nothing was heard in the time in which the sent sound could arrive"
        case .noMatch: "the heard sound is not the sent sound"
        case .ambiguous: "the sound repeats itself, so its delay is ambiguous"
        }
    }
}
