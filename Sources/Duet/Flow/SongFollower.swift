// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Keeps a song in step with the group's time by small changes of its rate.
///
/// A change is heard up to 0.7 s later, since the player converts the song ahead. So the proportional part of the control is about
/// the sound that is converted next, which a change moves at once. It assumes the device's nominal rate. The integral part is about
/// the sound that is heard, and learns the rate of the device.
package struct SongFollower: Sendable {
    /// The rate that corrects a second of error at the end of the converted sound, per second.
    private static let proportional = 2.0
    /// The change of the rate per second, for a second of heard error.
    private static let integral = 0.6
    /// The largest part of the rate: that of ``SongPlayer/setCorrection(_:)``.
    private static let limit = 0.001
    /// Seconds. A larger error is no drift; the next order to play repairs it.
    private static let largestError = 0.05
    /// Seconds between two changes. Each is a piece of a take's map.
    private static let interval = 0.2

    private var rate = 0.0
    private var last: HostTime?

    package init() {}

    /// Begins anew at a jump. The rate of the device is kept.
    package mutating func restart() { last = nil }

    /// Returns the correction of the song's rate; nil if the present one stays.
    /// - Parameters:
    ///   - heardError: the seconds by which the heard sound is late.
    ///   - endError: the seconds by which the end of the converted sound will be late.
    ///   - now: a later time than that of the last call.
    package mutating func correction(heardError: Double, endError: Double, at now: HostTime) -> Double? {
        guard max(abs(heardError), abs(endError)) <= Self.largestError else { return nil }
        let elapsed = last.map { now.seconds(since: $0) }
        if let elapsed, elapsed < Self.interval { return nil }
        last = now
        rate = clamped(rate + Self.integral * heardError * min(1, elapsed ?? 0))
        return clamped(rate + Self.proportional * endError)
    }

    private func clamped(_ rate: Double) -> Double { max(-Self.limit, min(Self.limit, rate)) }
}
