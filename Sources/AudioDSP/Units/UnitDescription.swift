// SPDX-License-Identifier: Apache-2.0

/// A unit's description of itself: name, parameters and presets. What `earshot effects` prints, what a graph file is checked
/// against, and what the engine makes its controls from.
public struct UnitDescription: Hashable, Sendable {
    /// Identifies the unit.
    public var component: AudioComponentDescription
    /// The name as people write it.
    public var name: String
    /// One sentence: what it does to the sound.
    public var summary: String
    /// In the order in which a kernel gets their values.
    public var parameters: [UnitParameter]
    /// Named settings; the first, if any, is the default.
    public var presets: [UnitPreset]

    /// A description of these parts.
    package init(
        component: AudioComponentDescription, name: String, summary: String, parameters: [UnitParameter],
        presets: [UnitPreset] = []
    ) {
        self.component = component
        self.name = name
        self.summary = summary
        self.parameters = parameters
        self.presets = presets
    }

    /// The place of a parameter in ``parameters``.
    package func index(of identifier: String) -> Int? { parameters.firstIndex { $0.identifier == identifier } }

    /// Every parameter's default, in order.
    package var defaultValues: [Float] { parameters.map(\.defaultValue) }

    /// Every parameter's value under a preset: the default if the preset is silent about it.
    public func values(of preset: UnitPreset) -> [Float] {
        parameters.map { preset.values[$0.identifier] ?? $0.defaultValue }
    }
}

/// One thing about a unit that can be set.
public struct UnitParameter: Hashable, Sendable {
    /// The unit of a value.
    public enum Unit: Hashable, Sendable {
        /// A plain number, such as a ratio or a quality factor.
        case generic
        case decibels
        case hertz
        case seconds
        case semitones
        case degrees
        case metres
        /// 0 to 100.
        case percent
        /// −1 is left, 1 is right.
        case pan
        /// 0 is off, 1 is on.
        case toggle
        /// A choice by its place among names.
        case choice([String])

        /// The symbol behind a value; empty if there is none.
        public var symbol: String {
            switch self {
            case .generic, .pan, .toggle, .choice: ""
            case .decibels: "dB"
            case .hertz: "Hz"
            case .seconds: "s"
            case .semitones: "semitones"
            case .degrees: "°"
            case .metres: "m"
            case .percent: "%"
            }
        }

        /// Returns true if values between two others make sense, so that a change can be a ramp.
        package var isContinuous: Bool {
            switch self {
            case .toggle, .choice: false
            default: true
            }
        }
    }

    /// The name in graph files and options, in lower camel case: `threshold`, `band1.frequency`.
    public var identifier: String
    /// The name as people write it.
    public var name: String
    /// The unit of the value.
    public var unit: Unit
    /// The allowed values, in ``unit``.
    public var range: ClosedRange<Float>
    /// The default, in ``unit``.
    public var defaultValue: Float

    /// A parameter.
    /// - Precondition: `range` contains `defaultValue`.
    package init(_ identifier: String, _ name: String, _ unit: Unit, _ range: ClosedRange<Float>, default value: Float)
    {
        precondition(range.contains(value), "\(identifier): the default \(value) is outside \(range)")
        self.identifier = identifier
        self.name = name
        self.unit = unit
        self.range = range
        defaultValue = value
    }
}

/// A named set of values; what it does not name is at its default.
public struct UnitPreset: Hashable, Sendable {
    /// In lower case, words joined by hyphens.
    public var name: String
    /// Values by the parameters' identifiers.
    public var values: [String: Float]

    /// A preset of these values.
    package init(_ name: String, _ values: [String: Float]) {
        self.name = name
        self.values = values
    }
}
