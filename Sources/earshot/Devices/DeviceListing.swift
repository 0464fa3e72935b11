// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices

/// The devices of a sound system at one time.
struct DeviceListing {
    let backend: AudioBackend
    let failure: AudioDeviceError?
    let devices: [AudioDeviceDescription]
    /// The permission to record from each input that is not a monitor, by the device's id.
    let permissions: [String: RecordPermission]

    init(_ system: any AudioSystem) {
        backend = system.backend
        failure = system.failure
        devices = failure == nil ? system.devices : []
        let inputs = devices.filter { $0.has(.input) && $0.form != .monitor }
        permissions = Dictionary(inputs.map { ($0.id, system.recordPermission(ofInput: $0.id)) }) { first, _ in first }
    }

    /// Returns the failure if there is no device at all; nil otherwise.
    static func noDeviceFailure(_ listings: [DeviceListing]) -> Failure? {
        guard listings.allSatisfy(\.devices.isEmpty) else { return nil }
        if listings.count == 1, let failure = listings[0].failure { return Failure(failure) }
        if let system = listings.first(where: { $0.failure == nil }) {
            return Failure(
                "\(system.backend) runs but has no device: plug in headphones with a microphone, or try another with --device",
                status: Failure.unavailable)
        }
        return Failure(
            "no audio device found: plug one in, start PipeWire (`systemctl --user start pipewire wireplumber`) or JACK "
                + "(`jackd -d alsa`), or try --device simulated",
            status: Failure.unavailable)
    }
}
