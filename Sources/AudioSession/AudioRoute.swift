// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices

/// The input and output of sound.
public struct AudioRoute: Hashable, Sendable, CustomStringConvertible {
    /// The microphone's device; nil if nothing is captured.
    public var input: AudioDeviceDescription?
    /// The loudspeaker's device; nil if nothing is played.
    public var output: AudioDeviceDescription?

    /// Nowhere, unless said otherwise.
    package init(input: AudioDeviceDescription? = nil, output: AudioDeviceDescription? = nil) {
        self.input = input
        self.output = output
    }

    /// Returns true if sound goes neither in nor out.
    public var isEmpty: Bool { input == nil && output == nil }

    /// Such as "Headset" for a device that does both, "Webcam → Speakers" for two, "Speakers" if one side is all, "nothing" for
    /// none.
    public var description: String {
        switch (input?.name, output?.name) {
        case (nil, nil): "nothing"
        case (let name?, nil), (nil, let name?): name
        case (let from?, let to?): from == to ? from : "\(from) → \(to)"
        }
    }
}
