// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import EarshotAudioSession
import EarshotLiveCall
import EarshotNearby
import Foundation

/// The sentences of a sound check.
enum SoundCheckSentences {
    static let keys = "Keys: Enter go on, r repeat, q quit"
    static let playback = "You sound like this:"
    static let remembered =
        "The next call on these devices begins without a check. To repeat it: earshot check\n"
        + "To measure the delay of these devices for duets: earshot calibrate"

    /// Returns the lines about the devices.
    /// - Parameter hasKeys: true if the user has a terminal.
    static func devices(_ route: AudioRoute, hasKeys: Bool) -> [String] {
        var lines = [hasKeys ? "Sound check. \(keys)" : "Sound check."]
        lines.append("Microphone: \(route.input.map(device) ?? "none")")
        lines.append("\(outputLabel(route.output)): \(route.output.map(device) ?? "none")")
        let devices = [route.input, route.output].compactMap { $0 }
        lines += Set(devices.compactMap(DeviceFormatting.advice)).sorted()
        return lines
    }

    private static func device(_ device: AudioDeviceDescription) -> String {
        "\(DeviceFormatting.name(device)) (\(device.kindDescription))"
    }

    private static func outputLabel(_ output: AudioDeviceDescription?) -> String {
        switch output?.form {
        case .headphones, .headset: "Headphones"
        case .speaker: "Loudspeaker"
        default: "Headphones or loudspeaker"
        }
    }

    static func ticks(_ count: Int) -> String { "You hear \(count) ticks. Then say a few words." }

    static func recording(_ seconds: Double) -> String { String(format: "Speak now, for %.0f s.", seconds) }

    /// Returns the judgement of a microphone: what was found, then what to do.
    /// - Parameter hasKeys: true if the user can repeat the check by a key.
    static func text(_ finding: SoundCheck.Finding, hasKeys: Bool) -> String {
        let again = hasKeys ? " To repeat, press r." : ""
        switch finding {
        case .fine(let levels): return "The microphone works: level \(decibels(levels.level))."
        case .tooQuiet(let levels):
            return "The microphone is too quiet: level \(decibels(levels.level)). "
                + "Turn it up in the sound settings (pavucontrol, alsamixer), or move closer.\(again)"
        case .clipping(let levels):
            return "The microphone is clipping: peak \(decibels(levels.peak)). "
                + "Turn it down in the sound settings (pavucontrol, alsamixer), or move away from it.\(again)"
        case .digitalSilence:
            return "The microphone is completely silent (all zeros). "
                + "Unmute it in the sound settings, or use another: --microphone NAME.\(again)"
        case .stalled(let seconds):
            return String(format: "The device delivered only %.1f s of sound. ", seconds)
                + "Restart the sound system, or use another device: --device SYSTEM.\(again)"
        case .noMicrophone: return "No microphone found. Plug one in, or list devices: earshot devices"
        }
    }

    private static func decibels(_ level: Double) -> String { "\(Int(level.rounded())) dBFS" }

    /// Returns the question at the end.
    /// - Parameter hasOutput: false if nothing was played.
    static func question(_ finding: SoundCheck.Finding, hasOutput: Bool) -> String {
        let sound = finding.levels == nil ? "the ticks" : "the ticks and your voice"
        let question =
            hasOutput
            ? "Did you hear \(sound)? If not, turn up the volume, or use another output: --speaker NAME."
            : "No headphones or loudspeaker found. Plug them in, or list devices: earshot devices"
        return "\(question)\n\(keys)"
    }

    /// Returns the live line.
    static func line(_ step: SoundCheck.Step, peak: Float) -> String {
        let part =
            switch step {
            case .ticks: "ticks"
            case .recording: "recording"
            case .playback: "playing"
            case .decision, .ended: "Enter go on, r repeat, q quit"
            }
        return "microphone \(StatusLine.meter(peak))  \(part)"
    }

    /// Returns the sentence for an answer that cannot be stored.
    static func forgotten(_ error: NearbyStoreError) -> String {
        "Cannot store the sound check: \(error). The next call begins with a check. To skip it: --no-check"
    }

    static let skipped = "Sound check skipped before its result. The next call begins with a check."
    static let cancelled = "Sound check cancelled. To call without it: --no-check"
}
