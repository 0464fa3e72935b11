// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import EarshotAudioSession

/// The sound card of a command: a session, and the command's work on its device.
protocol SessionCard {
    var session: AudioSession { get }
    /// The device, which stays while the hardware changes.
    var device: any AudioDevice { get }
    var asked: SystemOptions { get }
}

extension SessionCard {
    var report: CallReport.Device { CallReport.Device(session, device, asked) }
    var summary: String { report.summary(session.currentRoute) }
}

extension AudioSession {
    /// Opens the route.
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
    /// - Parameter prepare: changes the simulated card, if that is selected.
    func session(
        inputChannelCount: Int, simulated prepare: (inout SimulatedCard.Configuration) -> Void = { _ in }
    ) throws -> AudioSession {
        var card: SimulatedCard.Configuration?
        if device == .simulated {
            var new = SimulatedCard.Configuration(
                sampleRate: rate ?? 48_000, blockFrameCount: block ?? 256, inputChannelCount: inputChannelCount,
                outputChannelCount: 2)
            prepare(&new)
            card = new
        }
        let system: any AudioSystem = try card.map { SimulatedSystem.standard($0) } ?? makeSystem()
        var wanted = try configuration(inputChannelCount: inputChannelCount, outputChannelCount: 2, on: system)
        wanted.preferredBlockFrameCount = block ?? card?.blockFrameCount
        wanted.preferredSampleRate = rate ?? card?.sampleRate
        return AudioSession(system, wanted)
    }
}
