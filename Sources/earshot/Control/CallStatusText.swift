// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall
import Foundation

/// The status of a call as text.
struct CallStatusText {
    let status: StatusDocument
    let hasColour: Bool

    /// Lines about the call, and a table of the other participants.
    var text: String {
        var lines = [roomLine, ownLine]
        if let device = status.device { lines.append(CallDeviceLine(device).text) }
        if let interruption = status.interruption { lines.append("No sound: \(interruption.text)") }
        lines.append(soundLine)
        if let effects = status.effects { lines.append(EffectSentences.list(effects)) }
        if let song = status.accompaniment { lines.append(AccompanimentSentences.status(song)) }
        if let duet = status.duet, duet.song != nil { lines.append(DuetSentences.status(duet, status.participants)) }
        if let recording = status.recording {
            let length = recording.seconds.map { " (\(FileFormatting.clock($0)))" } ?? ""
            lines.append("Recording: \(recording.folder)\(length)")
        } else if status.isRecordingAwaited {
            lines.append(RecordingSentences.awaited)
        }
        if !status.joinRequests.isEmpty {
            let guests = status.joinRequests.enumerated().map { "\($0 + 1) \($1.name)" }.joined(separator: ", ")
            lines.append("Requests: \(guests)")
        }
        if status.isRecordingConsentRequested {
            let names = status.participants.filter(\.isRecording).map(\.name)
            lines.append(ErrorText.join(RecordingSentences.request(names), CallAnswers.recording))
        }
        let text = lines.filter { !$0.isEmpty }.map { TerminalText.sanitized($0) + "\n" }.joined()
        return status.participants.isEmpty ? text + "Nobody else is in the room.\n" : text + table
    }

    private var roomLine: String {
        guard let room = status.room else { return "Room: none" }
        let seconds = status.sound.seconds.map { ", \(FileFormatting.clock($0))" } ?? ""
        let role =
            switch status.phase {
            case "inRoom": status.localParticipant?.isHost == true ? " (you are the host)" : ""
            case "joining": " (joining)"
            case "ended": " (ended)"
            default: ""
            }
        return "Room: \(room.name)\(role)\(seconds)"
    }

    private var ownLine: String {
        guard let participant = status.localParticipant else { return "" }
        var parts = [participant.name]
        if status.isMuted { parts.append("muted") }
        if status.isPushToTalk == true { parts.append("push to talk") }
        if status.isSpeaking, !status.isMuted { parts.append("speaking") }
        if status.microphone != "fine" { parts.append("microphone: \(status.microphone)") }
        return "You: \(parts.joined(separator: ", "))"
    }

    private var soundLine: String {
        var parts: [String] = []
        if let dial = status.dial { parts.append("Dial: \(dial)") }
        if let voice = status.voiceProcessing {
            let state = voice.state ?? voice.mode ?? ""
            parts.append("Voice processing: \(state)\(voice.reason.map { " (\($0))" } ?? "")")
        }
        if let monitor = status.monitor { parts.append(MonitorSentences.text(monitor)) }
        if status.sound.state != "none" { parts.append(VolumeSentences.playback(status.outputVolume)) }
        return parts.joined(separator: "  ")
    }

    private var table: String {
        let rows = status.participants.enumerated().map { index, participant in
            let statistics = participant.statistics
            return [
                "\(index + 1)", participant.name,
                VolumeSentences.text(participant.volume, isHeard: participant.isHeard),
                statistics?.delayMs.map { String(format: "%.0f ms", $0) } ?? "", statistics.map { "\($0.lost)" } ?? "",
                statistics.map { "\($0.glitches)" } ?? "", Self.state(participant),
            ]
        }
        return TextTable(["NO", "NAME", "VOLUME", "DELAY", "LOST", "GLITCHES", "STATE"], rows).text(
            hasColour: hasColour)
    }

    private static func state(_ participant: ParticipantDocument) -> String {
        var words: [String] = []
        if participant.isHost { words.append("host") }
        if participant.isMuted { words.append("muted") }
        if participant.isRecording { words.append("recording") }
        if participant.isAway {
            words.append("away")
        } else if !["open", "silent"].contains(participant.connection) {
            words.append("connecting")
        }
        if participant.statistics?.isSpeaking == true, !participant.isMuted { words.append("speaking") }
        return words.joined(separator: ", ")
    }
}
