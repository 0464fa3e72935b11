// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall

/// The commands with which another terminal answers a call's questions.
enum CallAnswers {
    static let recording = "Answer: earshot call allow-recording yes, or no"

    static func admission(of guest: String) -> String {
        "Admit: earshot call admit \(HostCommand.quoted(guest))"
    }

    /// Returns the sentences about an event, and the command with which to answer; an empty text if there is nothing to say.
    static func text(_ event: EventDocument) -> String {
        let text = EventSentences.text(event)
        return switch EventDocument.Name(rawValue: event.event) {
        case .joinRequested?: ErrorText.join(text, event.request.map { admission(of: $0.name) })
        case .recordingConsentRequested?: ErrorText.join(text, recording)
        default: text
        }
    }
}
