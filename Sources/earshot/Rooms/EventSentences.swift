// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall
import EarshotMediaTransport

/// The sentences about a call's events: in the call's own terminal, which may add advice and keys, and in others.
enum EventSentences {
    /// Returns the sentences about an event; an empty text if there is nothing to say.
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
        case .settingChanged: return SettingSentences.text(event)
        case .joinRequested: return event.request.map { asking($0) } ?? ""
        case .joinRequestWithdrawn: return withdrawal(event)
        case .guestRefused: return event.error?.text ?? ""
        case .soundStarted, .device, .microphone, .feedback, .voiceProcessing, .monitor, .effects, .muted:
            return sound(name, event)
        case .callBegan, .formatChanged, .transportFailed, .mediaMissing, .negotiationFailed, .linkRate:
            return media(name, event)
        case .recordingStarted, .recordingEnded, .recordingFailed, .participantRecording, .recordingConsentRequested,
            .recordingConsent:
            return recording(name, event)
        case .accompaniment: return AccompanimentSentences.changed(event.accompaniment)
        case .accompanimentFailed: return event.error?.text ?? ""
        case .duet: return event.duet.map { DuetSentences.changed($0) } ?? "The duet has ended."
        case .messageReceived, .messagesLost, .streamRefused, .transfer: return transfer(name, event)
        }
    }

    /// Returns the name of a person; other words for a person whose name is unknown.
    static func name(_ name: String?) -> String { name ?? "a former participant" }

    /// Returns the reason of an event, to follow a sentence without its full stop.
    static func reason(_ event: EventDocument) -> String { event.error.map { ": \($0.text)" } ?? "" }

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
        case .roomSplit:
            return "The room has split: \(host) hosts another part. "
                + "To change, leave and join it by its host's address."
        case .discovery: return event.discovery?.text ?? ""
        case .ended: return "The call has ended\(reason(event))."
        default: return event.error?.text ?? ""
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

    private static func withdrawal(_ event: EventDocument) -> String {
        let name = name(event.request?.name)
        return switch event.error?.code {
        case "declined": "Declined \(name)."
        case "blocked": "Blocked \(name)."
        default: event.error?.text ?? ""
        }
    }

    /// Returns the sentence about a guest who asks to join, without a full stop.
    private static func asking(_ guest: JoinRequestDocument) -> String {
        let key = guest.key.map { hex in "key \(KeyFingerprint(hex: hex)?.description ?? hex)" } ?? "a browser"
        let standing = guest.isKnown ? "known" : guest.key == nil ? "cannot prove who it is" : "not known"
        let purpose = guest.purpose.map { ": \"\($0)\"" } ?? ""
        return "\(guest.name) (\(key), \(standing), \(guest.address)) asks to join\(purpose)"
    }
}
