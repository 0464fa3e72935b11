// SPDX-License-Identifier: Apache-2.0

/// A change of a sound system's devices.
public enum AudioDeviceChange: Hashable, Sendable {
    /// The device has appeared in the list.
    case added(AudioDeviceDescription)
    /// The device has disappeared from the list.
    case removed(AudioDeviceDescription)
    /// A property of the device has changed, such as its rate, latency, name or channel count; not only its being the default.
    case changed(AudioDeviceDescription)
    /// The default input is now this device; nil if there is none any longer.
    case defaultInput(AudioDeviceDescription?)
    /// The default output is now this device; nil if there is none any longer.
    case defaultOutput(AudioDeviceDescription?)
}
