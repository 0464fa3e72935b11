// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import EarshotLiveCall
import Foundation

/// The sentences about sound, recordings, messages and files.
extension EventSentences {
    static func sound(_ kind: EventDocument.Name, _ event: EventDocument) -> String {
        switch kind {
        case .soundStarted: return event.device.map { CallDeviceLine($0).text } ?? ""
        case .device: return event.deviceEvent?.text ?? ""
        case .microphone:
            let finding = MicrophoneCheck.Finding.allCases.first { "\($0)" == event.microphone }
            return finding?.advice ?? "Microphone: \(event.microphone ?? "")"
        case .feedback:
            let hertz = event.hertz.map { " at \($0) Hz" } ?? ""
            return "Feedback\(hertz) was damped. Turn down a loudspeaker, or use headphones."
        case .voiceProcessing: return event.voiceProcessing.map { voiceProcessing($0) } ?? ""
        case .monitor: return event.monitor.map { MonitorSentences.text($0) } ?? ""
        case .effects: return EffectSentences.list(event.effects)
        default: return event.isMuted == true ? "Muted." : "Unmuted."
        }
    }

    private static func voiceProcessing(_ voice: VoiceProcessingDocument) -> String {
        let reason = voice.reason ?? ""
        guard let state = voice.state, state != "failed" else { return reason }
        let cost = voice.latencyMs.map { $0 > 0 ? String(format: ", delay %.1f ms", $0) : "" } ?? ""
        return "Voice processing: \(state) (\(reason))\(cost)"
    }

    /// The sentences about media have no full stop, so that advice can follow.
    static func media(_ kind: EventDocument.Name, _ event: EventDocument) -> String {
        let name = name(event.participant?.name)
        switch kind {
        case .callBegan: return "In a call with \(name): \(event.format?.summary ?? "")"
        case .formatChanged: return "\(name): \(event.format?.summary ?? "")"
        case .negotiationFailed where event.error?.code == "codec-unavailable":
            return "\(name) keeps \(event.participant?.format?.summary ?? "another codec")\(reason(event))"
        case .mediaMissing: return "No sound arrives from \(name)."
        case .linkRate:
            return event.rate.map { "\(name): \($0.summary)" } ?? "The link to \(name) carries the full bit rate again."
        default: return "No sound to or from \(name)\(reason(event))"
        }
    }

    static func recording(_ kind: EventDocument.Name, _ event: EventDocument) -> String {
        let name = name(event.participant?.name)
        let recording = event.recording
        switch kind {
        case .recordingStarted: return RecordingSentences.started(recording?.folder ?? "")
        case .recordingEnded:
            return RecordingSentences.ended(
                recording?.folder ?? "", seconds: recording?.seconds ?? 0, gapSeconds: recording?.gapSeconds ?? 0)
        case .recordingFailed: return event.error?.text ?? ""
        case .participantRecording:
            return event.participant?.isRecording == true
                ? RecordingSentences.began(name) : RecordingSentences.stopped(name)
        case .recordingConsentRequested: return RecordingSentences.request((event.participants ?? []).map(\.name))
        default:
            return event.participant?.allowsRecording == true
                ? RecordingSentences.allowed(name) : RecordingSentences.declined(name)
        }
    }

    static func transfer(_ kind: EventDocument.Name, _ event: EventDocument) -> String {
        switch kind {
        case .messageReceived: return event.message.map { message($0) } ?? ""
        case .messagesLost:
            let count = event.count ?? 0
            let messages = count == 1 ? "a message" : "\(count) messages"
            return "\(name(event.name)) did not receive \(messages)\(reason(event))"
        case .streamRefused: return "Refused the stream '\(event.stream ?? "")' of \(name(event.name))."
        default: return event.transfer.map { transfer($0) } ?? ""
        }
    }

    private static func message(_ message: MessageDocument) -> String {
        let sender = name(message.name)
        guard let text = message.text else {
            return "Received \(FileFormatting.size(message.byteCount)) from \(sender) that are not text."
        }
        return lines(text, of: sender)
    }

    /// Returns a message with the sender's name before each line, so that no line can pass for another sender's message.
    static func lines(_ text: String, of name: String) -> String {
        let lines = text.split(omittingEmptySubsequences: true, whereSeparator: \.isNewline)
        return lines.isEmpty ? "\(name): " : lines.map { "\(name): \($0)" }.joined(separator: "\n")
    }

    /// The sentence about a failure has no full stop, so that advice can follow.
    private static func transfer(_ transfer: TransferDocument) -> String {
        let file = "'\(transfer.file)' (\(FileFormatting.size(Int(transfer.byteCount))))"
        let sender = name(transfer.sender)
        switch transfer.state {
        case "declined": return "Declined \(file) from \(sender)."
        case "receiving": return "Receiving \(file) from \(sender)."
        case "received": return "Received \(transfer.path ?? "") from \(sender)."
        case "sent": return "Sent \(transfer.file)."
        case "failed":
            let reason = transfer.error?.text ?? ""
            return transfer.sender == nil ? reason : "Cannot receive \(file) from \(sender): \(reason)"
        case "undelivered":
            return (transfer.undelivered ?? []).map { "\($0.name): \($0.error.text)" }.joined(separator: "\n")
        default: return ""
        }
    }
}
