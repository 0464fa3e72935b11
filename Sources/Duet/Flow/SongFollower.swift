// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Keeps a song in step with the group's time by small changes of its rate.
///
/// A change is heard up to 0.7 s later, since the player converts the song ahead. So the control is about the sound that is converted
/// next, which a change moves at once. The rates of the device and of the group's time are known before the song begins.
package struct SongFollower: Sendable {
    /// The rate that corrects a second of error, per second.
    private static let proportional = 2.0
    /// The largest correction: that of ``SongPlayer/setCorrection(_:)``.
    private static let limit = 0.001
    /// Seconds. A larger error is no drift; the next order to play repairs it.
    private static let largestError = 0.05
    /// Seconds between two changes. Each is a piece of a take's map.
    private static let interval = 0.2

    private var last: HostTime?

    package init() {}

    /// Returns the correction of the song's rate; nil if the present one stays.
    /// - Parameters:
    ///   - rate: the correction of a song without an error.
    ///   - endError: the seconds by which the end of the converted sound will be late; 0 before the song begins.
    ///   - now: a later time than that of the last call.
    package mutating func correction(rate: Double, endError: Double, at now: HostTime) -> Double? {
        guard abs(endError) <= Self.largestError else { return nil }
        if let last, now.seconds(since: last) < Self.interval { return nil }
        last = now
        return max(-Self.limit, min(Self.limit, rate + Self.proportional * endError))
    }
}
