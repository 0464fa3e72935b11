// SPDX-License-Identifier: Apache-2.0

/// A bit rate on the command line in kilobits per second: `64` or `64k`.
enum BitRateArgument {
    /// Returns whole kilobits per second; nil if the text is no bit rate.
    static func kilobits(_ text: String) -> Int? { Int(text.lowercased().hasSuffix("k") ? text.dropLast() : text[...]) }
}
