// SPDX-License-Identifier: Apache-2.0

/// A sound system: lists its devices, tells when they come and go, opens them.
///
/// It outlives its server: when that ends the list empties, and when it is back the list fills again, without a call.
/// Members are for any thread but the render thread, unless they say otherwise.
public protocol AudioSystem: AnyObject, Sendable {
    /// The kind of sound system.
    var backend: AudioBackend { get }
    /// The present devices, and their changes.
    var registry: AudioDeviceRegistry { get }
    /// The reason that no device can be opened now; nil if devices can.
    var failure: AudioDeviceError? { get }
    /// Opens a device, or an input and an output of two devices as one. It does not call yet.
    ///
    /// It may take some 100 ms. One thread at a time.
    func open(_ request: AudioDeviceRequest) throws(AudioDeviceError) -> any AudioDevice
}

extension AudioSystem {
    /// The present devices; none while the server is gone.
    public var devices: [AudioDeviceDescription] { registry.devices }
    /// Returns the changes from this call on, in order. Ends when the task is cancelled or the system freed.
    public func changes() -> AsyncStream<AudioDeviceChange> { registry.changes() }
}
