// SPDX-License-Identifier: Apache-2.0

/// A sound system: it lists devices, reports changes, and opens devices.
///
/// A sound system outlives its server: the list becomes empty when the server ends, and is filled again automatically when the
/// server is back. Members are for any thread except the render thread, unless documented otherwise.
public protocol AudioSystem: AnyObject, Sendable {
    /// The kind of sound system.
    var backend: AudioBackend { get }
    /// The current devices and their changes.
    var registry: AudioDeviceRegistry { get }
    /// The reason that no device can be opened; nil while devices can be opened.
    var failure: AudioDeviceError? { get }
    /// Opens a device, or an input and an output of two devices as one, without starting it.
    ///
    /// May take some 100 ms. For one thread at a time.
    func open(_ request: AudioDeviceRequest) throws(AudioDeviceError) -> any AudioDevice
}

extension AudioSystem {
    /// The current devices; empty while the server is not running.
    public var devices: [AudioDeviceDescription] { registry.devices }
    /// Returns a stream of the changes from now on, in order. It ends when its task is cancelled or the sound system is released.
    public func changes() -> AsyncStream<AudioDeviceChange> { registry.changes() }
}
