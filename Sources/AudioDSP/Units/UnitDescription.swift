// SPDX-License-Identifier: Apache-2.0

/// A unit's name, parameters and presets: what `earshot effects` prints, what graph files are checked against, and what the
/// engine makes its controls from.
public struct UnitDescription: Hashable, Sendable {
    /// The unit's type, subtype and manufacturer.
    public var component: AudioComponentDescription
    /// The display name.
    public var name: String
    /// One sentence about the unit's effect on the sound.
    public var summary: String
    /// The parameters, in the order of a kernel's values.
    public var parameters: [UnitParameter]
    /// The presets; the first, if any, is the default.
    public var presets: [UnitPreset]

    /// Creates a description.
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

    /// Returns the index of a parameter in ``parameters``; nil if there is none.
    package func index(of identifier: String) -> Int? { parameters.firstIndex { $0.identifier == identifier } }

    /// The parameters' default values, in the order of ``parameters``.
    package var defaultValues: [Float] { parameters.map(\.defaultValue) }

    /// Returns the values of a preset: defaults for the parameters that it does not name.
    public func values(of preset: UnitPreset) -> [Float] {
        parameters.map { preset.values[$0.identifier] ?? $0.defaultValue }
    }
}

/// A parameter of a unit.
public struct UnitParameter: Hashable, Sendable {
    /// The unit of a value.
    public enum Unit: Hashable, Sendable {
        /// A number without a unit, such as a ratio or a quality factor.
        case generic
        case decibels
        case hertz
        case seconds
        case semitones
        case degrees
        case metres
        /// A percentage, usually 0 to 100.
        case percent
        /// A pan: −1 is left, 1 is right.
        case pan
        /// A switch: 0 is off, 1 is on.
        case toggle
        /// The index of one of these names.
        case choice([String])

        /// The symbol after a value; empty if there is none.
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

        /// True if intermediate values are valid, so that a change can be a ramp.
        package var isContinuous: Bool {
            switch self {
            case .toggle, .choice: false
            default: true
            }
        }
    }

    /// The name in graph files and options, in lower camel case: `threshold`, `band1.frequency`.
    public var identifier: String
    /// The display name.
    public var name: String
    /// The unit of the value.
    public var unit: Unit
    /// The allowed values, in ``unit``.
    public var range: ClosedRange<Float>
    /// The default, in ``unit``.
    public var defaultValue: Float

    /// Creates a parameter.
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

/// A named set of values; parameters that it does not name have their defaults.
public struct UnitPreset: Hashable, Sendable {
    /// The name in lower case, with hyphens between words.
    public var name: String
    /// The values by the parameters' identifiers.
    public var values: [String: Float]

    /// Creates a preset.
    package init(_ name: String, _ values: [String: Float]) {
        self.name = name
        self.values = values
    }
}
