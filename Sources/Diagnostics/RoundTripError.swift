// SPDX-License-Identifier: Apache-2.0

/// The reason that a round trip could not be measured.
public enum RoundTripError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The test signal did not come back: nothing joins the output to the input.
    case noLoop
    /// The input gives nothing, or less than −120 dB of full scale.
    case silent
    /// The input gives a constant and nothing else; its value, 1 being full scale.
    case constant(Float)
    /// The input is at full scale.
    case clipped
    /// The captured signal is no longer than the test signal.
    case tooShort
    /// The device lost frames, or was changed, meanwhile.
    case interrupted

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .noLoop: "no loop found"
        case .silent: "no loop found, the input is silent"
        case .constant(let value):
            "the input gives a constant \(Double((value * 1_000).rounded()) / 1_000) and no sound"
        case .clipped: "the input is clipped"
        case .tooShort: "too little was captured"
        case .interrupted: "the device lost frames meanwhile"
        }
    }
}

extension RoundTripError {
    /// The weight of a failure: of several the heaviest is reported.
    var weight: Int {
        switch self {
        case .silent: 0
        case .constant: 1
        case .noLoop: 2
        case .clipped: 3
        case .tooShort, .interrupted: 4
        }
    }
}
