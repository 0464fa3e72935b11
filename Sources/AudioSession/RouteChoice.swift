// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices

/// The devices that a session should be on, by id.
struct RouteChoice: Hashable, Sendable {
    var input: String?
    var output: String?

    var isEmpty: Bool { input == nil && output == nil }
}

/// Chooses a session's devices among the present ones. It has no clock, and no state but its properties.
struct RoutePolicy: Sendable {
    var configuration: AudioSession.Configuration
    /// Devices that were in use when they went, or that were put on since: taken before the default, on systems whose
    /// default does not follow what is plugged in.
    var inputComeback: String?
    var outputComeback: String?

    /// Returns true if the default of such a system is a person's or a session manager's choice, to be followed.
    static func followsDefault(_ backend: AudioBackend) -> Bool { backend == .pipewire || backend == .simulated }

    /// Nil if a side that the category cannot do without is missing.
    func choice(among devices: [AudioDeviceDescription]) -> RouteChoice? {
        let choice = RouteChoice(
            input: configuration.effectiveInputCount == 0
                ? nil : pick(devices, .input, configuration.preferredInput, \.isDefaultInput),
            output: configuration.effectiveOutputCount == 0
                ? nil : pick(devices, .output, configuration.preferredOutput, \.isDefaultOutput))
        // A call can do with one side; a recording has only the one.
        return choice.isEmpty ? nil : choice
    }

    private func pick(
        _ devices: [AudioDeviceDescription], _ direction: AudioDirection, _ preferred: String?,
        _ isDefault: KeyPath<AudioDeviceDescription, Bool>
    ) -> String? {
        let able = devices.filter { $0.has(direction) }
        for id in [preferred, direction == .input ? inputComeback : outputComeback] {
            if let id, able.contains(where: { $0.id == id }) { return id }
        }
        // On JACK other programs are listed too; they are used only if named.
        let isHardware = { (device: AudioDeviceDescription) in
            device.form != .monitor && !(device.backend == .jack && device.transport == .virtual)
        }
        return (able.first { $0[keyPath: isDefault] } ?? able.first(where: isHardware))?.id
    }
}
