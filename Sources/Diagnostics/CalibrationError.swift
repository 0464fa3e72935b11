// SPDX-License-Identifier: Apache-2.0

/// The reason that a device could not be calibrated.
package enum CalibrationError: Error, Hashable, Sendable {
    /// The test signal did not return.
    case noEcho
    /// The test signal returned, but too weak beside the noise to find its beginning.
    case noise
    /// The microphone was overdriven.
    case clipping
    /// The input is silent or constant.
    case silence
    /// The repeats differ by this many seconds.
    case unstable(Double)
    /// The device lost frames, or was changed.
    case lostFrames

    init(_ error: RoundTripError) {
        self =
            switch error {
            case .noLoop: .noEcho
            case .silent, .constant: .silence
            case .clipped: .clipping
            case .tooShort, .interrupted: .lostFrames
            }
    }
}
