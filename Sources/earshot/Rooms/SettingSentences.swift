// SPDX-License-Identifier: Apache-2.0

import EarshotCall
import EarshotLiveCall
import EarshotMediaTransport
import EarshotPlayout
import Foundation

/// The sentences about settings of a call: in the terminal that changes one, and in all others.
enum SettingSentences {
    /// Returns the sentence about a changed setting; the name of a setting that this version does not know.
    static func text(_ event: EventDocument) -> String {
        guard let setting = event.setting else { return "" }
        guard let command = try? setting.liveCallCommand() else { return setting.command }
        let name = EventSentences.name(event.participant?.name)
        return switch command {
        case .setVolume(let volume, _): VolumeSentences.volume(volume, of: name)
        case .setHeard(let isHeard, _): isHeard ? VolumeSentences.heard(name) : VolumeSentences.unheard(name)
        case .setOutputVolume(let volume): VolumeSentences.playback(volume)
        case .setLatencyProfile(let profile): dial(profile)
        case .setVoiceProcessing(let mode): voiceProcessing(mode)
        case .setCodec(let codec, let frame): self.codec(codec, packetMilliseconds: frame)
        case .setMonitor(let mode): "Monitor: \(mode.rawValue)"
        case .setPushToTalk(let isOn): MonitorSentences.pushToTalk(isOn, hasKeys: false)
        case .setAdmission(let policy): RoomIntroduction.admissionRule(policy)
        case .startRecording: RecordingSentences.awaited
        case .stopRecording: RecordingSentences.cancelled
        case .allowRecording(let isAllowed): recordingConsent(isAllowed)
        default: setting.command
        }
    }

    static func dial(_ profile: LatencyProfile) -> String { "Dial: \(profile)" }
    static func voiceProcessing(_ mode: VoiceProcessingMode) -> String { "Voice processing: \(mode.rawValue)" }

    static func codec(_ codec: Codec?, packetMilliseconds: Double?) -> String {
        let length = packetMilliseconds.map { ", packets of \(String(format: "%g", $0)) ms" } ?? ""
        return "Codec: \(codec?.rawValue ?? "auto")\(length)"
    }

    static func recordingConsent(_ isAllowed: Bool) -> String {
        isAllowed ? "Others may record your voice." : "Others may not record your voice."
    }
}
