// SPDX-License-Identifier: Apache-2.0

/// A measured number with its limit. `scripts/bench units` prints it, and a test checks it.
public struct Figure: Sendable, CustomStringConvertible {
    /// The limit of a value.
    public enum Limit: Sendable {
        case atMost(Double)
        case atLeast(Double)
        case within(ClosedRange<Double>)
    }
    /// The name of the measurement.
    public var name: String
    /// In ``unit``.
    public var value: Double
    /// For example `dB`.
    public var unit: String
    /// Its limit.
    public var limit: Limit
    /// The reference of the measurement: `scipy.signal.sosfreqz`, `libebur128 1.2.6`, `Woodworth's sphere`.
    public var reference: String

    /// Creates a figure from these parts.
    public init(_ name: String, _ value: Double, _ unit: String, _ limit: Limit, against reference: String) {
        self.name = name
        self.value = value
        self.unit = unit
        self.limit = limit
        self.reference = reference
    }

    /// True if the value is within its limit.
    public var isMet: Bool {
        switch limit {
        case .atMost(let limit): value <= limit
        case .atLeast(let limit): value >= limit
        case .within(let range): range.contains(value)
        }
    }

    /// One line.
    public var description: String {
        let bound =
            switch limit {
            case .atMost(let limit): "at most \(Self.short(limit))"
            case .atLeast(let limit): "at least \(Self.short(limit))"
            case .within(let range): "\(Self.short(range.lowerBound)) to \(Self.short(range.upperBound))"
            }
        let mark = isMet ? "" : "  MISSED"
        return "\(name): \(Self.short(value)) \(unit) (\(bound); against \(reference))\(mark)"
    }

    private static func short(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e9 else { return "\(value)" }
        let digits = abs(value) >= 100 ? 10.0 : abs(value) >= 1 ? 100.0 : 10_000.0
        return "\((value * digits).rounded() / digits)"
    }
}
