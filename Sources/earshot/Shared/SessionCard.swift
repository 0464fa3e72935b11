// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import EarshotAudioSession

/// The sound card of a command: a session, and the command's work on its device.
protocol SessionCard {
    var session: AudioSession { get }
    /// The session's device, which stays the same while the hardware changes.
    var device: any AudioDevice { get }
    /// The options with which the user requested the sound system.
    var asked: SystemOptions { get }
}

extension SessionCard {
    var report: CallReport.Device { CallReport.Device(session, device, asked) }
    var summary: String { report.summary(session.currentRoute) }
}

extension AudioSession {
    /// Activates the session and returns its device.
    /// - Throws: the errors of ``activate()``, and `noDefaultDevice` unless the route has all these directions.
    func activate(needing directions: [AudioDirection]) throws -> any AudioDevice {
        let device = try activate()
        let route = currentRoute
        for direction in directions where (direction == .input ? route.input : route.output) == nil {
            throw AudioDeviceError.noDefaultDevice(direction)
        }
        return device
    }
}

extension DeviceOptions {
    /// Returns an inactive session with a microphone and a stereo loudspeaker.
    /// - Parameter prepare: changes the configuration of the simulated card; called only with `--device simulated`.
    func session(
        inputChannelCount: Int, simulated prepare: (inout SimulatedCard.Configuration) -> Void = { _ in }
    ) throws -> AudioSession {
        var card: SimulatedCard.Configuration?
        if device == .simulated {
            var cardConfiguration = SimulatedCard.Configuration(
                sampleRate: rate ?? 48_000, blockFrameCount: block ?? 256, inputChannelCount: inputChannelCount,
                outputChannelCount: 2)
            prepare(&cardConfiguration)
            card = cardConfiguration
        }
        let system: any AudioSystem = try card.map { SimulatedSystem.standard($0) } ?? makeSystem()
        var sessionConfiguration = try configuration(
            inputChannelCount: inputChannelCount, outputChannelCount: 2, on: system)
        sessionConfiguration.preferredBlockFrameCount = block ?? card?.blockFrameCount
        sessionConfiguration.preferredSampleRate = rate ?? card?.sampleRate
        system.warnOfSilentMicrophone(id: sessionConfiguration.preferredInput)
        return AudioSession(system, sessionConfiguration)
    }
}
