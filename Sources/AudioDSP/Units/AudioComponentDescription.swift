// SPDX-License-Identifier: Apache-2.0

/// Identifies a unit: type, subtype and manufacturer.
///
/// A part that is nil in a search matches everything.
public struct AudioComponentDescription: Hashable, Sendable, CustomStringConvertible {
    /// The kind of the unit.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Sound in, sound out.
        case effect
        /// Any number of inputs into one output.
        case mixer
        /// Makes sound out of nothing.
        case generator
        /// Changes rate or channels.
        case formatConverter
        /// Removes a second sound, the remote peer's, from the first.
        case voiceProcessing
    }

    /// The kind.
    public var type: Kind?
    /// Such as `equalizer`; of an LV2 plug-in its URI.
    public var subtype: String?
    /// `earshot`, or `lv2` for plug-ins of others.
    public var manufacturer: String?

    /// A description; what is left out matches everything.
    public init(type: Kind? = nil, subtype: String? = nil, manufacturer: String? = nil) {
        self.type = type
        self.subtype = subtype
        self.manufacturer = manufacturer
    }

    /// Returns true if `other` is what this describes.
    package func matches(_ other: AudioComponentDescription) -> Bool {
        (type == nil || type == other.type) && (subtype == nil || subtype == other.subtype)
            && (manufacturer == nil || manufacturer == other.manufacturer)
    }

    /// Its parts, as people read them.
    public var description: String {
        [type?.rawValue, subtype, manufacturer].map { $0 ?? "any" }.joined(separator: " / ")
    }
}
