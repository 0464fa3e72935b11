// SPDX-License-Identifier: Apache-2.0

/// The connection of an output to an input while a device is calibrated.
package enum LoopPath: Hashable, Sendable {
    case cable
    /// From a loudspeaker to a microphone.
    /// - Parameters:
    ///   - distance: in metres.
    ///   - tolerance: the metres by which the distance may be wrong.
    case air(distance: Double, tolerance: Double)

    /// Metres per second, at 20 °C.
    package static let speedOfSound = 343.0

    /// The seconds that the path itself takes.
    package var seconds: Double {
        switch self {
        case .cable: 0
        case .air(let distance, _): distance / Self.speedOfSound
        }
    }

    /// The seconds by which ``seconds`` may be wrong.
    package var tolerance: Double {
        switch self {
        case .cable: 0
        case .air(_, let tolerance): tolerance / Self.speedOfSound
        }
    }

    var sweepDuration: Double {
        switch self {
        case .cable: ProbeSignal.duration
        case .air: ProbeSignal.airDuration
        }
    }

    /// The maximum seconds until a sweep returns: the delay of a Bluetooth headset, and in the air the end of the reverberation.
    var maximumRoundTrip: Double {
        switch self {
        case .cable: 0.5
        case .air: 0.9
        }
    }
}
