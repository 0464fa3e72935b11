// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices

/// The user's choice of the monitor, which plays the local voice to the local participant.
public enum MonitorMode: String, Hashable, Sendable, CaseIterable {
    /// On with headphones and a round trip below 15 ms.
    case auto
    /// On, except with a separate microphone.
    case on
    /// Never on.
    case off
    /// On like ``on``, with the own voice as late as the latest of the others' voices. So all have one distance to each other, and
    /// to themselves.
    case equal
}

/// Chooses the monitor, which plays the local voice to the local participant.
extension VoiceProcessingChoice {
    /// The round trip in seconds from which on the automatic monitor is off: a later echo of the own voice disturbs.
    package static let monitorLimit = 0.015
    /// The seconds by which the round trip may exceed the limit before a running monitor turns off. So a varying latency does not
    /// toggle it.
    private static let monitorTolerance = 0.002

    /// Chooses the monitor.
    /// - Parameters:
    ///   - input: the microphone's device; nil if nothing is captured.
    ///   - output: the loudspeaker's device; nil if nothing is played.
    ///   - hasSeparateInput: true if microphone and loudspeaker are separate devices. The monitor needs a common cycle.
    ///   - roundTrip: the seconds from the input converter to the output converter, including all processing of the voice.
    ///   - wasOn: true if the monitor is on already, in the same mode and on the same route.
    package init(
        monitor mode: MonitorMode, input: AudioDeviceDescription?, output: AudioDeviceDescription?,
        hasSeparateInput: Bool, roundTrip: Double, wasOn: Bool = false
    ) {
        (isOn, reason) =
            switch mode {
            case .off: (false, "as asked")
            case _ where hasSeparateInput: (false, "microphone and loudspeaker are separate devices")
            case .on: (true, "as asked")
            case .equal: (true, "as late as the others' voices")
            case .auto: Self.automaticMonitor(input, output, roundTrip, wasOn)
            }
    }

    private static func automaticMonitor(
        _ input: AudioDeviceDescription?, _ output: AudioDeviceDescription?, _ roundTrip: Double, _ wasOn: Bool
    ) -> (Bool, String) {
        guard let input, let output else { return (false, "one of microphone and loudspeaker is missing") }
        switch (input.form, output.form) {
        case (.monitor, _): return (false, "\(input.name) is not a microphone")
        case (_, .speaker): return (false, "a loudspeaker would feed back")
        case (_, .headphones), (_, .headset):
            let limit = wasOn ? monitorLimit + monitorTolerance : monitorLimit
            let isShort = roundTrip.isFinite && roundTrip < limit
            let time = roundTrip.isFinite ? "\((max(0, min(10, roundTrip)) * 1e4).rounded() / 10) ms" : "unknown"
            return (isShort, "\(output.form.rawValue), round trip \(time)" + (isShort ? "" : ": too long"))
        default: return (false, "'\(output.name)' reports no type")
        }
    }
}
