// SPDX-License-Identifier: Apache-2.0

extension EventDocument.Name {
    /// Creates the name of an event's kind.
    package init(_ kind: LiveCallEvent.Kind) {
        self =
            switch kind {
            case .roomFound: .roomFound
            case .hostSlow: .hostSlow
            case .pinRequested: .pinRequested
            case .askedAgain: .askedAgain
            case .roomOpened: .roomOpened
            case .roomJoined: .roomJoined
            case .participantJoined: .participantJoined
            case .participantLeft: .participantLeft
            case .participantRenamed: .participantRenamed
            case .participantMuted: .participantMuted
            case .participantAway: .participantAway
            case .hostChanged: .hostChanged
            case .becameHost: .becameHost
            case .hostLost: .hostLost
            case .hostFound: .hostFound
            case .roomSplit: .roomSplit
            case .descriptionForged: .descriptionForged
            case .discovery: .discovery
            case .storeFailed: .storeFailed
            case .settingChanged: .settingChanged
            case .joinRequested: .joinRequested
            case .joinRequestWithdrawn: .joinRequestWithdrawn
            case .guestRefused: .guestRefused
            case .soundStarted: .soundStarted
            case .device: .device
            case .microphone: .microphone
            case .feedback: .feedback
            case .voiceProcessing: .voiceProcessing
            case .monitor: .monitor
            case .effects: .effects
            case .muted: .muted
            case .callBegan: .callBegan
            case .transportFailed: .transportFailed
            case .mediaMissing: .mediaMissing
            case .negotiationFailed: .negotiationFailed
            case .linkRate: .linkRate
            case .formatChanged: .formatChanged
            case .recordingStarted: .recordingStarted
            case .recordingEnded: .recordingEnded
            case .recordingFailed: .recordingFailed
            case .participantRecording: .participantRecording
            case .recordingConsentRequested: .recordingConsentRequested
            case .recordingConsent: .recordingConsent
            case .accompaniment: .accompaniment
            case .accompanimentFailed: .accompanimentFailed
            case .duet: .duet
            case .messageReceived: .messageReceived
            case .messagesLost: .messagesLost
            case .streamRefused: .streamRefused
            case .transfer: .transfer
            case .ended: .ended
            }
    }
}
