// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall

/// The sentences about a call's events for another terminal than the call's.
enum EventSentences {
    static func text(_ event: EventDocument) -> String {
        // A later version has further events.
        guard let name = EventDocument.Name(rawValue: event.event) else { return event.event }
        switch name {
        case .roomFound, .hostSlow, .pinRequested, .askedAgain, .roomOpened, .roomJoined, .becameHost, .hostLost,
            .hostFound, .roomSplit, .discovery, .storeFailed, .ended:
            return room(name, event)
        case .participantJoined, .participantLeft, .participantRenamed, .participantMuted, .participantAway,
            .hostChanged, .descriptionForged:
            return participant(name, event)
        case .joinRequested, .joinRequestWithdrawn, .guestRefused: return guest(name, event)
        case .soundStarted, .device, .microphone, .voiceProcessing, .muted: return sound(name, event)
        case .callBegan, .transportFailed, .mediaMissing, .negotiationFailed, .linkRate: return media(name, event)
        case .recordingStarted, .recordingEnded, .recordingFailed, .participantRecording, .recordingConsentRequested,
            .recordingConsent:
            return recording(name, event)
        case .messageReceived, .messagesLost, .streamRefused, .transfer: return transfer(name, event)
        }
    }

    /// Returns the question whether participants may record the local voice.
    static func consentQuestion(_ names: [String]) -> String {
        "May \(RecordingSentences.list(names)) record your voice? Answer: earshot call allow-recording yes"
    }

    private static func reason(_ event: EventDocument) -> String { event.error.map { ": \($0.text)" } ?? "" }
    private static func name(_ name: String?) -> String { name ?? "a former participant" }

    private static func room(_ kind: EventDocument.Name, _ event: EventDocument) -> String {
        let host = event.room?.host ?? ""
        switch kind {
        case .roomFound: return "Found '\(event.room?.name ?? "")'. Asking its host \(host) to admit you."
        case .hostSlow: return "Waiting for the host to answer."
        case .pinRequested:
            return event.attemptsLeft.map { "Wrong PIN. Attempts left: \($0)." } ?? "The room has a PIN."
        case .askedAgain:
            return "\(name(event.participant?.name)) is the host now and does not know you. Asking again."
        case .roomOpened: return "The room is open."
        case .roomJoined: return "Joined the room."
        case .becameHost: return "You are the host now."
        case .hostLost: return "Lost the host. Reconnecting."
        case .hostFound: return "Reconnected to the host."
        case .roomSplit: return "The room has split: \(host) hosts another part."
        case .discovery: return "Announcement: \(event.discovery?.text ?? "")"
        case .ended: return "The call has ended\(reason(event))."
        default: return "The store failed\(reason(event))."
        }
    }

    private static func participant(_ kind: EventDocument.Name, _ event: EventDocument) -> String {
        let participant = event.participant
        let name = name(participant?.name)
        switch kind {
        case .participantJoined: return "\(name) joined."
        case .participantLeft: return event.isLost == true ? "\(name) did not return." : "\(name) left."
        case .participantRenamed: return "\(Self.name(event.previousName)) is now called \(name)."
        case .participantMuted: return "\(name) is \(participant?.isMuted == true ? "muted" : "no longer muted")."
        case .participantAway:
            return participant?.isAway == true
                ? "Lost contact with \(name). Waiting up to 60 s." : "\(name) is back."
        case .hostChanged: return "\(name) is the host now."
        default: return "Ignored a description of \(name) that \(name) did not sign. Somebody may be intercepting."
        }
    }

    private static func guest(_ kind: EventDocument.Name, _ event: EventDocument) -> String {
        let name = name(event.request?.name ?? event.name)
        switch kind {
        case .joinRequested:
            let purpose = event.request?.purpose.map { ": \"\($0)\"" } ?? ""
            let standing = event.request?.isKnown == true ? "known" : "not known"
            return "\(name) (\(standing)) asks to join\(purpose). Admit: earshot call admit \(HostCommand.quoted(name))"
        case .joinRequestWithdrawn: return "\(name) no longer asks to join\(reason(event))."
        default: return "Refused \(name)\(reason(event))."
        }
    }

    private static func sound(_ kind: EventDocument.Name, _ event: EventDocument) -> String {
        switch kind {
        case .soundStarted: return "Audio: \(event.device.map { CallStatusText.text($0) } ?? "")"
        case .device: return event.deviceEvent?.text ?? ""
        case .microphone: return "Microphone: \(event.microphone ?? "")"
        case .voiceProcessing:
            let voice = event.voiceProcessing
            return "Voice processing: \(voice?.state ?? "") (\(voice?.reason ?? ""))"
        default: return event.isMuted == true ? "Muted." : "Unmuted."
        }
    }

    private static func media(_ kind: EventDocument.Name, _ event: EventDocument) -> String {
        let name = name(event.participant?.name)
        switch kind {
        case .callBegan: return "In a call with \(name): \(event.format?.codec ?? "")"
        case .mediaMissing: return "No sound arrives from \(name)."
        case .linkRate:
            guard let rate = event.rate else { return "The link to \(name) carries the full bit rate again." }
            return "The link to \(name) is slow: \(rate.codec) at \(rate.bitRate / 1_000) kb/s is sent."
        default: return "No sound to or from \(name)\(reason(event))."
        }
    }

    private static func recording(_ kind: EventDocument.Name, _ event: EventDocument) -> String {
        let name = name(event.participant?.name)
        let recording = event.recording
        switch kind {
        case .recordingStarted: return "Recording to \(recording?.folder ?? "")."
        case .recordingEnded:
            return RecordingSentences.ended(
                recording?.folder ?? "", seconds: recording?.seconds ?? 0, gapSeconds: recording?.gapSeconds ?? 0)
        case .recordingFailed: return "Recording failed\(reason(event))."
        case .participantRecording:
            return event.participant?.isRecording == true
                ? "\(name) records the call." : RecordingSentences.stopped(name)
        case .recordingConsentRequested: return consentQuestion((event.participants ?? []).map(\.name))
        default:
            return event.participant?.allowsRecording == true
                ? RecordingSentences.allowed(name) : "\(name) does not allow recording."
        }
    }

    private static func transfer(_ kind: EventDocument.Name, _ event: EventDocument) -> String {
        switch kind {
        case .messageReceived:
            let sender = name(event.message?.name)
            guard let text = event.message?.text else {
                let size = FileFormatting.size(event.message?.byteCount ?? 0)
                return "Received \(size) from \(sender) that are not text."
            }
            return RoomPresenter.lines(text, of: sender)
        case .messagesLost:
            let count = event.count ?? 0
            let messages = count == 1 ? "a message" : "\(count) messages"
            return "\(name(event.name)) did not receive \(messages)\(reason(event))."
        case .streamRefused: return "Refused the stream '\(event.stream ?? "")' of \(name(event.name))."
        default:
            guard let transfer = event.transfer else { return "" }
            let error = transfer.error.map { ": \($0.text)" } ?? ""
            return "File '\(transfer.file)'\(transfer.sender.map { " from \($0)" } ?? ""): \(transfer.state)\(error)"
        }
    }
}
