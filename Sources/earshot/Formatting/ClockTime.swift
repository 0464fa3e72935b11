// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The time of day as text.
enum ClockTime {
    private static let format: Date.FormatString =
        "\(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits)"

    /// Returns the local time of a date, such as `14:05:12`.
    static func text(_ date: Date) -> String {
        date.formatted(.verbatim(format, timeZone: .current, calendar: .current))
    }
}
