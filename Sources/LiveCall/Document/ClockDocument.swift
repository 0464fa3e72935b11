// SPDX-License-Identifier: Apache-2.0

import EarshotCall

/// The estimate of a participant's monotonic clock as JSON.
package struct ClockDocument: Codable, Equatable, Sendable {
    /// The milliseconds by which the participant's clock is ahead of the local one.
    package var offsetMs: Double
    /// The milliseconds within which `offsetMs` is right in 95 % of cases, if packets take equally long both ways.
    package var errorMs: Double
    /// The milliseconds within which `offsetMs` is right, whatever the path.
    package var uncertaintyMs: Double
    /// The parts per million by which the participant's clock is faster than the local one.
    package var ppm: Double

    /// Returns nil if a number is not finite.
    init?(_ reading: PeerClockReading) {
        guard let offset = CallJSON.milliseconds(reading.offset),
            let error = CallJSON.milliseconds(reading.likelyError),
            let uncertainty = CallJSON.milliseconds(reading.uncertainty), reading.partsPerMillion.isFinite
        else { return nil }
        (offsetMs, errorMs, uncertaintyMs) = (offset, error, uncertainty)
        ppm = (reading.partsPerMillion * 10).rounded() / 10
    }
}
