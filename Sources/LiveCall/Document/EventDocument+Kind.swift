// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotCall
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms

extension EventDocument {
    /// Sets the fields of an event's kind.
    mutating func describe(_ kind: LiveCallEvent.Kind) {
        switch kind {
        case .hostSlow, .roomOpened, .roomJoined, .becameHost, .hostLost, .hostFound: break
        case .roomFound(let info), .roomSplit(let info): room = RoomDocument(info)
        case .pinRequested(let request):
            if case .wrong(let attemptsLeft) = request { self.attemptsLeft = attemptsLeft }
        case .participantJoined(let participant), .participantMuted(let participant),
            .participantAway(let participant), .hostChanged(let participant), .askedAgain(let participant),
            .descriptionForged(let participant), .participantRecording(let participant),
            .recordingConsent(let participant):
            self.participant = ParticipantDocument(participant)
        case .participantLeft(let participant, let isLost):
            self.participant = ParticipantDocument(participant)
            self.isLost = isLost
        case .participantRenamed(let participant, let previousName):
            self.participant = ParticipantDocument(participant)
            self.previousName = previousName.text
        case .discovery(let state): discovery = DiscoveryDocument(state)
        case .storeFailed(let error): self.error = ErrorDocument(code: "store", error)
        case .settingChanged(let command, let participant):
            setting = CommandDocument(command)
            self.participant = participant.map { ParticipantDocument($0) }
        case .joinRequested(let request): self.request = JoinRequestDocument(request)
        case .joinRequestWithdrawn(let request, let error):
            self.request = JoinRequestDocument(request)
            self.error = ErrorDocument(error, about: request.guest.name.text)
        case .guestRefused(let name, let error):
            self.name = name
            self.error = ErrorDocument(error, about: name)
        case .soundStarted, .device, .microphone, .feedback, .voiceProcessing, .monitor, .effects, .muted:
            describeSound(kind)
        case .callBegan, .formatChanged, .transportFailed, .mediaMissing, .negotiationFailed, .linkRate:
            describeMedia(kind)
        case .recordingStarted(let folder): recording = RecordingDocument(folder: folder)
        case .recordingEnded(let result): recording = RecordingDocument(result)
        case .recordingFailed(let error): self.error = ErrorDocument(error)
        case .recordingConsentRequested(let participants):
            self.participants = participants.map { ParticipantDocument($0) }
        case .accompaniment(let status):
            let time = HostTime(nanoseconds: monotonicNanoseconds)
            accompaniment = status.map { AccompanimentDocument($0, at: time) }
        case .accompanimentFailed(let error): self.error = ErrorDocument(code: "file", error)
        case .duet(let status): duet = status.map { DuetDocument($0) }
        case .messageReceived(let message): self.message = MessageDocument(message)
        case .messagesLost(let name, let count, let reason):
            self.name = name.text
            self.count = count
            error = ErrorDocument(code: "undelivered", text: reason)
        case .streamRefused(let name, let stream):
            self.name = name?.text
            self.stream = stream
        case .transfer(let transfer): self.transfer = TransferDocument(transfer)
        case .ended(let ending): error = ErrorDocument(ending)
        }
    }

    private mutating func describeSound(_ kind: LiveCallEvent.Kind) {
        switch kind {
        case .soundStarted(let device, let effects):
            self.device = DeviceDocument(device)
            self.effects = effects.map { EffectsDocument($0) }
        case .device(let event, let device):
            self.device = DeviceDocument(device)
            deviceEvent = DeviceEventDocument(event)
        case .microphone(let finding): microphone = "\(finding)"
        case .feedback(let hertz): self.hertz = Int(hertz.rounded())
        case .voiceProcessing(let state): voiceProcessing = VoiceProcessingDocument(state)
        case .monitor(let choice): monitor = MonitorDocument(choice)
        case .effects(let effects): self.effects = effects.map { EffectsDocument($0) }
        case .muted(let isMuted): self.isMuted = isMuted
        default: break
        }
    }

    private mutating func describeMedia(_ kind: LiveCallEvent.Kind) {
        switch kind {
        case .callBegan(let participant, let configuration), .formatChanged(let participant, let configuration):
            self.participant = ParticipantDocument(participant)
            format = FormatDocument(configuration)
        case .transportFailed(let participant, let error):
            self.participant = ParticipantDocument(participant)
            self.error = ErrorDocument(code: "transport", error)
        case .mediaMissing(let participant, let port):
            self.participant = ParticipantDocument(participant)
            self.port = Int(port)
        case .negotiationFailed(let participant, let error):
            self.participant = ParticipantDocument(participant)
            let refusal = (error as? CommandRefusal).map { ErrorDocument($0) }
            self.error = refusal ?? ErrorDocument(code: "negotiation", error)
        case .linkRate(let participant, let rate):
            self.participant = ParticipantDocument(participant)
            self.rate = rate.map { RateDocument($0) }
        default: break
        }
    }
}
