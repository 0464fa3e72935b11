// SPDX-License-Identifier: Apache-2.0

/// A change of a sound system's devices.
public enum AudioDeviceChange: Hashable, Sendable {
    /// The device can be opened.
    case added(AudioDeviceDescription)
    /// The device can no longer be opened.
    case removed(AudioDeviceDescription)
    /// The device has changed its rate, latency, name or channel count.
    case changed(AudioDeviceDescription)
    /// The default input has changed or disappeared.
    case defaultInput(AudioDeviceDescription?)
    /// The default output has changed or disappeared.
    case defaultOutput(AudioDeviceDescription?)
}
