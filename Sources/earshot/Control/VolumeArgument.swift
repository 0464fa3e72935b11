// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// A volume on the command line: a percentage or decibels, such as `50%` or `-6dB`.
enum VolumeArgument {
    private static let percentages = 0.0...800.0
    private static let decibels = -60.0...18.0

    /// Returns the gain, a factor from 0 to 8. A number needs its unit, because 10 % and 10 dB are far apart.
    static func gain(_ text: String) throws -> Float {
        let plain = text.replacing("\u{2212}", with: "-").replacing(" ", with: "").lowercased()
        if plain.hasSuffix("%"), let percentage = Double(plain.dropLast()), percentages.contains(percentage) {
            return Float(percentage / 100)
        }
        if plain.hasSuffix("db"), let level = Double(plain.dropLast(2)), decibels.contains(level) {
            return Float(pow(10, level / 20))
        }
        throw ValidationError("use 0% to 800%, or -60dB to 18dB")
    }
}
