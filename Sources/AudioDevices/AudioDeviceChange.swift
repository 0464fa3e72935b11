// SPDX-License-Identifier: Apache-2.0

/// Something that happened to a sound system's devices.
public enum AudioDeviceChange: Hashable, Sendable {
    /// It can be opened now.
    case added(AudioDeviceDescription)
    /// It cannot be opened any longer.
    case removed(AudioDeviceDescription)
    /// The same device with another rate, latency, name or channel count.
    case changed(AudioDeviceDescription)
    /// The default input has changed or disappeared.
    case defaultInput(AudioDeviceDescription?)
    /// The default output has changed or disappeared.
    case defaultOutput(AudioDeviceDescription?)
}
