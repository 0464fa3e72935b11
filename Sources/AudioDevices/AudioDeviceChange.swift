// SPDX-License-Identifier: Apache-2.0

/// A change of a sound system's devices.
public enum AudioDeviceChange: Hashable, Sendable {
    /// The device has appeared in the list.
    case added(AudioDeviceDescription)
    /// The device has disappeared from the list.
    case removed(AudioDeviceDescription)
    /// A property other than being the default has changed, such as the rate, latency, name or channel count.
    case changed(AudioDeviceDescription)
    /// The default input is now this device; nil if there is none any longer.
    case defaultInput(AudioDeviceDescription?)
    /// The default output is now this device; nil if there is none any longer.
    case defaultOutput(AudioDeviceDescription?)
}
