// SPDX-License-Identifier: Apache-2.0

/// The reason that a round trip could not be measured.
public enum RoundTripError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The test signal did not return: the output is not connected to the input.
    case noLoop
    /// The input is silent or below −120 dB of full scale.
    case silent
    /// The input is constant; the value is relative to full scale, 1.
    case constant(Float)
    /// Three successive samples of the input are at full scale, or a sample is no number.
    case clipped
    /// The captured sound is not longer than the test signal.
    case tooShort
    /// The device lost frames or was changed during the measurement.
    case interrupted

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .noLoop: "no loop found"
        case .silent: "no loop found, the input is silent"
        case .constant(let value):
            "the input is a constant \(Double((value * 1_000).rounded()) / 1_000), not sound"
        case .clipped: "the input is clipped"
        case .tooShort: "too little was captured"
        case .interrupted: "the device lost frames during the measurement"
        }
    }
}

extension RoundTripError {
    /// The priority of a failure. If there are several, the highest is reported.
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
