// SPDX-License-Identifier: Apache-2.0

import Foundation
import UnitMeasures

/// A figure of time, with its value on an idle machine.
public struct Report: CustomStringConvertible {
    /// The verdict on a limit.
    public enum Verdict { case met, missed, undecided }

    /// The name of the measurement.
    public let name: String
    /// In ``unit``.
    public let value: Double
    /// The least measured value. If the value misses its limit and this one does not, the machine is busy and the verdict is
    /// undecided.
    public let least: Double
    /// The reason that a miss is undecided, if there is another one.
    public let excuse: String?
    /// For example `s`.
    public let unit: String
    /// The limit; nil for a value that is only reported.
    public let limit: Figure.Limit?
    /// The reference of the measurement.
    public let reference: String

    /// Creates a figure from these parts.
    public init(
        _ name: String, _ value: Double, least: Double? = nil, excuse: String? = nil, _ unit: String,
        _ limit: Figure.Limit? = nil,
        against reference: String
    ) {
        self.name = name
        self.value = value
        self.least = least ?? value
        self.excuse = excuse
        self.unit = unit
        self.limit = limit
        self.reference = reference
    }

    private func figure(_ value: Double) -> Figure {
        Figure(name, value, unit, limit ?? .within(-.infinity ... .infinity), against: reference)
    }

    /// The verdict on the limit.
    public var verdict: Verdict {
        if figure(value).isMet { return .met }
        return excuse != nil || figure(least).isMet ? .undecided : .missed
    }

    /// One line.
    public var description: String {
        let bare = "\(name): \(decimal(value, value < 10 ? 2 : 1)) \(unit) (against \(reference))"
        guard limit != nil else { return bare }
        let words = "\(figure(value))"
        return verdict == .undecided
            ? words.replacing(
                "MISSED", with: "undecided: \(excuse ?? "the machine is busy; at best \(decimal(least)) \(unit)")")
            : words
    }
}

/// Formats a number with this many decimal places.
public func decimal(_ value: Double, _ digits: Int = 1) -> String { String(format: "%.\(digits)f", value) }

/// Formats a fraction as a percentage.
public func percent(_ part: Double) -> String { String(format: "%.2f %%", part * 100) }
