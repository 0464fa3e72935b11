/// Why no delay could be measured.
public enum DelayMeasurementError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Nothing, or nothing loud enough, was said.
    case sentIsSilent
    /// Nothing was heard.
    case heardIsSilent
    /// What was said is shorter than half a window.
    case tooShort
    /// Nothing was heard in the time in which what was said could have arrived.
    case noOverlap
    /// What was heard is not what was said.
    case noMatch
    /// The sound repeats itself within the search range, so that several delays fit alike.
    case ambiguous

    /// One line: what is wrong and what to do next.
    public var description: String {
        switch self {
        case .sentIsSilent: "the sent sound is silent; speak a file with speech or music in it"
        case .heardIsSilent: "the heard sound is silent; check that the call was connected and the output not muted"
        case .tooShort: "the sent sound is too short to measure a delay; use a second or more"
        case .noOverlap: "nothing was heard while the sent sound could arrive; check the start times of both files"
        case .noMatch: "the heard sound is not the sent one; check that the files belong to the same call"
        case .ambiguous: "the sound repeats itself, so its delay is ambiguous; use speech or less regular music"
        }
    }
}
