// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices

/// The devices that a session should use, by id.
struct RouteChoice: Hashable, Sendable {
    var input: String?
    var output: String?

    var isEmpty: Bool { input == nil && output == nil }
}

/// Chooses a session's devices among the present ones. It has no clock, and no state except its properties.
struct RoutePolicy: Sendable {
    var configuration: AudioSession.Configuration
    /// The ids of preferred devices on systems whose default does not follow newly plugged-in devices: devices that were removed
    /// while in use, or headphones and headsets that were plugged in later. They have priority over the default.
    var inputComeback: String?
    var outputComeback: String?
    /// The ids of outputs whose headphones were pulled out. They are not used while another output is listed.
    var unplugged: Set<String> = []

    /// Returns true if the system's default is chosen by the user or a session manager, so that the session should follow it.
    static func followsDefault(_ backend: AudioBackend) -> Bool { backend == .pipewire || backend == .simulated }

    /// Returns the devices to use; nil if there is no device for any direction that the category needs.
    func choice(among devices: [AudioDeviceDescription]) -> RouteChoice? {
        let choice = RouteChoice(
            input: configuration.effectiveInputCount == 0
                ? nil : pick(devices, .input, configuration.preferredInput, \.isDefaultInput),
            output: configuration.effectiveOutputCount == 0
                ? nil : pick(devices, .output, configuration.preferredOutput, \.isDefaultOutput))
        // One device is enough: a call also works with one direction, and a recording has only one.
        return choice.isEmpty ? nil : choice
    }

    private func pick(
        _ devices: [AudioDeviceDescription], _ direction: AudioDirection, _ preferred: String?,
        _ isDefault: KeyPath<AudioDeviceDescription, Bool>
    ) -> String? {
        var able = devices.filter { $0.has(direction) }
        if direction == .output, able.contains(where: { !unplugged.contains($0.id) }) {
            able.removeAll { unplugged.contains($0.id) }
        }
        for id in [preferred, direction == .input ? inputComeback : outputComeback] {
            if let id, able.contains(where: { $0.id == id }) { return id }
        }
        // JACK also lists other programs. They are used only if the user names them.
        let hardware = able.filter { device in
            device.form != .monitor && !(device.backend == .jack && device.transport == .virtual)
        }
        return (able.first { $0[keyPath: isDefault] } ?? hardware.first(where: \.isAvailable) ?? hardware.first)?.id
    }
}
