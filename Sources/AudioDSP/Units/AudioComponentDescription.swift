// SPDX-License-Identifier: Apache-2.0

/// Identifies a unit by type, subtype and manufacturer. In a search a nil part matches everything.
public struct AudioComponentDescription: Hashable, Sendable, CustomStringConvertible {
    /// The kind of the unit.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Changes sound.
        case effect
        /// Mixes any number of inputs into one output.
        case mixer
        /// Makes sound without an input.
        case generator
        /// Changes the sample rate or channels.
        case formatConverter
        /// Removes the remote peer's sound from the microphone's.
        case voiceProcessing
    }

    /// The type; nil matches every type.
    public var type: Kind?
    /// The subtype, such as `equalizer`; for an LV2 plug-in its URI.
    public var subtype: String?
    /// The manufacturer: `earshot`, or `lv2` for plug-ins.
    public var manufacturer: String?

    /// Creates a description; a nil part matches everything.
    public init(type: Kind? = nil, subtype: String? = nil, manufacturer: String? = nil) {
        self.type = type
        self.subtype = subtype
        self.manufacturer = manufacturer
    }

    /// Returns true if `other` matches this description.
    package func matches(_ other: AudioComponentDescription) -> Bool {
        (type == nil || type == other.type) && (subtype == nil || subtype == other.subtype)
            && (manufacturer == nil || manufacturer == other.manufacturer)
    }

    /// The three parts as text; a part that is nil is "any".
    public var description: String {
        [type?.rawValue, subtype, manufacturer].map { $0 ?? "any" }.joined(separator: " / ")
    }
}
