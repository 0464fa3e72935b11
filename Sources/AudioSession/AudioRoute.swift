// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices

/// The devices that sound comes from and goes to.
public struct AudioRoute: Hashable, Sendable, CustomStringConvertible {
    /// The microphone's device; nil if no sound is captured.
    public var input: AudioDeviceDescription?
    /// The loudspeaker's device; nil if no sound is played.
    public var output: AudioDeviceDescription?

    /// Creates a route; without arguments an empty one.
    package init(input: AudioDeviceDescription? = nil, output: AudioDeviceDescription? = nil) {
        self.input = input
        self.output = output
    }

    /// True if no sound is captured or played.
    public var isEmpty: Bool { input == nil && output == nil }

    /// For example "Headset" for one device with both directions, "Webcam → Speakers" for two, "Speakers" for one direction only,
    /// "nothing" for an empty route.
    public var description: String { Self.description(from: input?.name, to: output?.name) }

    /// Returns the description of a route between devices with these names.
    package static func description(from input: String?, to output: String?) -> String {
        switch (input, output) {
        case (nil, nil): "nothing"
        case (let name?, nil), (nil, let name?): name
        case (let from?, let to?): from == to ? from : "\(from) → \(to)"
        }
    }
}
