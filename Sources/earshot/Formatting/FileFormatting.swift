// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Formats the times, rates and sizes of sound files as text.
enum FileFormatting {
    /// Returns a time such as `3:07.250`, with hours if there are any.
    static func time(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0, seconds < 1e12 else { return "?" }
        let milliseconds = Int((seconds * 1_000).rounded())
        let (minutes, rest) = (milliseconds / 60_000, milliseconds % 60_000)
        let tail = String(format: "%02d.%03d", rest / 1_000, rest % 1_000)
        return minutes < 60
            ? "\(minutes):\(tail)" : "\(minutes / 60):\(String(format: "%02d", minutes % 60)):\(tail)"
    }

    /// Returns a time in whole seconds, such as `3:07`, with hours if there are any.
    static func clock(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0, seconds < 1e12 else { return "?" }
        return String(time(seconds.rounded()).dropLast(4))
    }

    static func format(rate: Double, channels: Int) -> String {
        let words = channels == 1 ? "mono" : channels == 2 ? "stereo" : "\(channels) channels"
        return "\(kilohertz(rate)), \(words)"
    }

    /// Returns a sample rate in kilohertz with five significant digits, so that 11.025 kHz is exact.
    static func kilohertz(_ rate: Double) -> String { String(format: "%.5g kHz", rate / 1e3) }

    /// Returns a size in decimal units, as disks have.
    static func size(_ bytes: Int) -> String {
        let units = ["bytes", "kB", "MB", "GB", "TB"]
        var (value, unit) = (Double(bytes), 0)
        while value >= 1_000, unit < units.count - 1 {
            value /= 1_000
            unit += 1
        }
        return unit == 0 ? "\(bytes) bytes" : "\(decimal(value)) \(units[unit])"
    }

    /// Returns a number with four significant digits, such as 22.05; a number of 1000 or more without a fraction.
    static func decimal(_ value: Double) -> String { String(format: abs(value) < 1_000 ? "%.4g" : "%.0f", value) }
}
