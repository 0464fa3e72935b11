// SPDX-License-Identifier: Apache-2.0

import EarshotCall
import EarshotLiveCall
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms
import Foundation

/// Prints the events of a call.
///
/// Members are for the command's thread only.
final class RoomPresenter {
    /// The way in which the user answers join requests.
    enum Answers {
        /// The user answers by single keys.
        case keys
        /// The user types lines that begin with a slash.
        case lines
        /// The user cannot answer.
        case none
    }

    let call: LiveCall
    let answers: Answers
    /// True if messages are printed on standard output instead of the terminal.
    private let printsMessages: Bool
    /// The user's sound card; nil to print nothing about sound.
    let card: SoundCard?
    private let staysAlone: Bool
    /// True in a call of `earshot duet`.
    var isDuet = false
    /// True if the command has joined a room.
    var isGuest = false
    private var lastEventNumber: UInt64 = 0
    /// True if the last choice that was printed turned voice processing on.
    var hadVoiceProcessing = false
    private var accompanimentNotices = AccompanimentNotices()
    /// The last completed recording of the local participant; nil before.
    private(set) var recording: CallRecordingResult?
    private var recordingNotices = RecordingNotices()
    /// The singers who record a take, of which nothing is printed.
    private var takeRecorders: Set<MemberID> = []
    /// The changes of settings by the user's keys that the terminal confirmed, and whose events were not handled yet.
    private var ownSettings: Set<LiveCallCommand> = []
    /// The verbs for the departure of participants whom the local user removed or blocked.
    private var dismissalVerbs: [MemberID: String] = [:]

    init(
        _ call: LiveCall, answers: Answers, card: SoundCard? = nil, staysAlone: Bool = false,
        printsMessages: Bool = false
    ) {
        self.call = call
        self.answers = answers
        self.card = card
        self.staysAlone = staysAlone
        self.printsMessages = printsMessages
    }

    /// Prints the events that were not printed yet. A chat message waits while standard output is blocked, with all later events.
    func present() {
        for event in call.pastEvents(after: lastEventNumber) {
            if printsMessages, case .messageReceived = event.kind, !Terminal.canOutput { return }
            if event.number > lastEventNumber + 1 {
                Terminal.warn("Skipped \(event.number - lastEventNumber - 1) events.")
            }
            lastEventNumber = event.number
            present(event)
        }
        ownSettings = []
    }

    /// Opens a room and waits until it is open. Prints nothing.
    func open(_ opening: RoomOpening) throws {
        try call.perform(.host(opening))
        while true {
            if let ending = snapshot.ending { throw Failure(ending) }
            let isOpen = call.pastEvents(after: 0).contains { if case .roomOpened = $0.kind { true } else { false } }
            if isOpen { return }
            usleep(2_000)
        }
    }

    /// Handles a command that the user gave by a key. The text about the departure of a removed or blocked participant will say
    /// so. A volume is confirmed.
    func note(_ command: LiveCallCommand) {
        switch command {
        case .remove(let id): dismissalVerbs[id] = "Removed"
        case .block(let id): dismissalVerbs[id] = "Blocked"
        case .setHeard(_, let id):
            ownSettings.insert(command)
            if let participant = snapshot[id] { Terminal.say(VolumeSentences.heard(participant)) }
        case .setVolume(_, let id):
            ownSettings.insert(command)
            noteSelection(id)
        case .setOutputVolume:
            ownSettings.insert(command)
            noteSelection(nil)
        default: break
        }
    }

    /// Prints the volume of the selected participant, or of the whole playback, if there is no status line that shows it.
    func noteSelection(_ id: MemberID?) {
        guard !Terminal.redraws else { return }
        guard let id else { return Terminal.say(VolumeSentences.playback(snapshot.outputVolume)) }
        if let participant = snapshot[id] { Terminal.say(VolumeSentences.volume(of: participant)) }
    }

    func text(_ event: LiveCallEvent) -> String { EventSentences.text(EventDocument(event)) }
    func say(_ event: LiveCallEvent) { Terminal.say(text(event)) }
    func warn(_ event: LiveCallEvent) { Terminal.warn(text(event)) }

    /// Prints an event as a warning, with the error's advice.
    func warn(_ event: LiveCallEvent, _ error: any Error) {
        Terminal.warn(ErrorText.join(text(event), (error as? any AdvisedError)?.advice))
    }

    var snapshot: LiveCallSnapshot { call.snapshot }
    private var hasSound: Bool { snapshot.sound != .none }
    /// The command with which others join.
    private var command: String { isDuet ? "duet join" : hasSound ? "join" : "chat" }

    private func present(_ event: LiveCallEvent) {
        switch event.kind {
        case .roomFound, .askedAgain: say(event)
        case .hostSlow: Terminal.say("\(text(event)) Ctrl-C cancels.")
        case .pinRequested, .roomOpened, .ended: break
        case .roomJoined: presentRoom()
        case .participantJoined, .participantLeft, .participantRenamed, .participantMuted, .participantAway,
            .hostChanged, .becameHost, .hostLost, .hostFound, .roomSplit, .descriptionForged:
            presentRoomEvent(event)
        case .discovery(let state): present(state)
        case .storeFailed(let error): Terminal.warn(error)
        case .settingChanged(let command, _): presentSetting(command, event)
        case .joinRequested:
            Terminal.notice(text(event))
            presentAnswers()
        case .joinRequestWithdrawn(_, .declined), .joinRequestWithdrawn(_, .blocked): say(event)
        case .joinRequestWithdrawn(let request, let error):
            if let words = error.hostSentence(about: request.guest.name.text) { Terminal.say(words) }
        case .guestRefused(let name, let error):
            if let words = error.hostSentence(about: name) { Terminal.warn(words) }
        case .soundStarted, .device, .microphone, .feedback, .voiceProcessing, .monitor, .effects, .muted:
            presentSound(event)
        case .callBegan, .formatChanged, .transportFailed, .mediaMissing, .negotiationFailed, .linkRate:
            if hasSound { presentMedia(event) }
        case .recordingStarted, .recordingEnded, .recordingFailed, .participantRecording, .recordingConsentRequested,
            .recordingConsent:
            presentRecording(event)
        case .accompaniment:
            let song = EventDocument(event).accompaniment
            if let words = accompanimentNotices.sentence(song, hasStatusLine: Terminal.redraws) { Terminal.say(words) }
        case .accompanimentFailed: warn(event)
        case .duet: break  // DuetPresenter prints what the duet does
        case .messageReceived, .messagesLost, .streamRefused, .transfer: presentTransfer(event)
        }
    }

    // MARK: Room

    private func presentRoom() {
        guard let own = snapshot.localParticipant, let room = snapshot.room else { return }
        let names = snapshot.participants.map { participant in
            let roles = [participant.isHost ? "host" : nil, participant.isRecording ? "recording" : nil]
                .compactMap { $0 }
            return roles.isEmpty ? participant.name.text : "\(participant.name) (\(roles.joined(separator: ", ")))"
        }
        Terminal.say("Joined '\(room.name)' as \(own.name), with \(names.joined(separator: ", ")).")
        for participant in snapshot.participants { presentVolume(of: participant) }
    }

    /// Prints the volume of a participant in the room if it is remembered from before.
    private func presentVolume(of participant: Participant) {
        guard card != nil,
            let words = VolumeSentences.remembered(participant, hasKeys: answers == .keys)
        else { return }
        Terminal.say(words)
    }

    private func presentRoomEvent(_ event: LiveCallEvent) {
        switch event.kind {
        case .participantJoined(let participant):
            say(event)
            presentVolume(of: participant)
            present(recordingNotices.noteArrival(of: participant))
        case .participantLeft(let participant, _):
            guard let verb = dismissalVerbs.removeValue(forKey: participant.id) else { return say(event) }
            Terminal.say("\(verb) \(participant.name).")
        case .participantAway(let participant) where participant.isAway: warn(event)
        case .becameHost: presentOwnHosting(event)
        case .hostLost, .roomSplit, .descriptionForged: warn(event)
        default: say(event)
        }
    }

    private func presentOwnHosting(_ event: LiveCallEvent) {
        guard staysAlone || !snapshot.participants.isEmpty else { return }
        let ways = RoomIntroduction.joinInstructions(call)
        let here = HostCommand.shown(SocketAddress(.loopback, port: call.port))
        let others = ways.isEmpty ? "Others on this machine (no network)" : "Others"
        let places = ways.isEmpty ? here : ways.joined(separator: " or ")
        Terminal.say("\(text(event)) \(others) join with: earshot \(command) \(places)")
        Terminal.say(RoomIntroduction.admission(snapshot.admission))
        if answers == .keys { Terminal.say(RoomKeyBindings.hint(isHost: true, records: !isDuet)) }
    }

    /// Prints the state of the room's announcement. Prints nothing if the local peer is alone and will not wait for others.
    private func present(_ state: RoomAdvertiser.State) {
        guard staysAlone || !snapshot.participants.isEmpty else { return }
        switch state {
        case .starting, .stopped: break
        case .advertising(let name):
            let how = (try? PeerName(name)).map { ": earshot \(command) \(HostCommand.argument(for: $0))" } ?? ""
            Terminal.say("\(state)\(how)")
        case .collision, .unavailable: Terminal.warn(state.text)
        }
    }

    /// Prints the ways in which the user answers the guests who ask to join.
    private func presentAnswers() {
        let requests = snapshot.joinRequests
        switch answers {
        case .keys:
            Terminal.say(
                requests.count > 1
                    ? "Keys: 1 to \(min(9, requests.count)) choose (\(requests.prefix(9).numbered)), then y admit, n decline, b block"
                    : "Keys: y admit, n decline, b block")
        case .lines:
            Terminal.say(
                requests.count > 1
                    ? "Type: /y NUMBER admit, /n decline, /b block (\(requests.numbered))"
                    : "Type: /y admit, /n decline, /b block")
        case .none: break
        }
    }

    /// Prints a changed setting, unless the user changed it by a key and the terminal has confirmed it.
    private func presentSetting(_ setting: LiveCallCommand, _ event: LiveCallEvent) {
        guard ownSettings.remove(setting) == nil else { return }
        if case .startRecording = setting, !snapshot.waitsForOthersToRecord { return }
        switch setting {
        case .setMonitor(let mode):
            // With sound, a `monitor` event follows with the reason.
            if snapshot.sound == .waiting { Terminal.say(MonitorSentences.awaited(mode)) }
        case .setPushToTalk(let isOn): Terminal.say(MonitorSentences.pushToTalk(isOn, hasKeys: answers == .keys))
        case .allowRecording(let isAllowed):
            // The answer of an option is not news.
            let isNews = isAskedAboutRecordings || isAllowed != (call.configuration.recordingConsent == .yes)
            // A take's question has said so.
            let isAgreement = isAllowed && call.duetStatus?.duet.hasAgreed == true
            if card != nil, isNews, !isAgreement { Terminal.say(RecordingSentences.answered(isAllowed: isAllowed)) }
        default: say(event)
        }
    }

    // MARK: Recordings

    private func presentRecording(_ event: LiveCallEvent) {
        switch event.kind {
        case .recordingStarted(let folder):
            let others = snapshot.participants
            // The recording of a take is a part of the agreement.
            if !isOfTake(folder) {
                Terminal.say(
                    RecordingSentences.started(folder, seenBy: others.map(\.name.text), hasKeys: answers == .keys))
            }
            let singers = call.duetStatus?.duet.singers.filter(\.hasAgreed).map(\.member) ?? []
            present(recordingNotices.begin(with: others, agreed: Set(singers)))
        case .recordingEnded(let result):
            recording = result
            recordingNotices.end()
            if !isOfTake(result.folder) { say(event) }
        case .recordingFailed(let error): Terminal.warn(error.text)
        case .participantRecording(let participant):
            let name = participant.name.text
            if isRecordingTake(participant) { return }
            Terminal.say(
                participant.isRecording
                    ? RecordingSentences.began(
                        name, isAllowed: isOwnVoiceAllowed, isAsked: isAskedAboutRecordings,
                        command: (isDuet ? "duet " : "") + (staysAlone && !isGuest ? "host" : "join"))
                    : RecordingSentences.stopped(name))
        case .recordingConsentRequested(let participants):
            guard card != nil else { return }
            let hasJoinRequests = !snapshot.joinRequests.isEmpty
            Terminal.notice(
                RecordingSentences.question(participants.map(\.name.text), hasJoinRequests: hasJoinRequests))
        case .recordingConsent(let participant):
            present(recordingNotices.noteAnswer(of: participant))
        default: break
        }
    }

    /// Returns true for the folder of a recording that belongs to a take of the duet.
    private func isOfTake(_ folder: String) -> Bool {
        call.duetStatus?.duet.song != nil && RecordingFolder.takeFolder(ofRecording: folder) != nil
    }

    /// Returns true if a participant's recording begins, or ends, with a take to which it and the user have agreed.
    private func isRecordingTake(_ participant: Participant) -> Bool {
        guard participant.isRecording else { return takeRecorders.remove(participant.id) != nil }
        guard isOwnVoiceAllowed == true, let duet = call.duetStatus?.duet, duet.hasAgreed, duet.phase.isSong,
            duet.singers.contains(where: { $0.member == participant.id && $0.hasAgreed })
        else { return false }
        takeRecorders.insert(participant.id)
        return true
    }

    /// Prints sentences about the local recording, unless it has ended meanwhile.
    private func present(_ sentences: [String]) {
        guard snapshot.recording != nil else { return }
        for sentence in sentences { Terminal.say(sentence) }
    }

    private var isAskedAboutRecordings: Bool { call.configuration.recordingConsent == .ask }

    /// True if others may record the local voice; nil before the user's answer, or without a voice.
    private var isOwnVoiceAllowed: Bool? {
        guard card != nil else { return nil }
        return snapshot.allowsRecording ?? (isAskedAboutRecordings ? nil : call.configuration.recordingConsent == .yes)
    }

    // MARK: Messages and files

    private func presentTransfer(_ event: LiveCallEvent) {
        switch event.kind {
        case .messageReceived(let message):
            guard printsMessages, message.text != nil else { return say(event) }
            try? Terminal.output(TerminalText.sanitizedLines(text(event)) + "\n")
        case .messagesLost: warn(event)
        case .streamRefused: say(event)
        case .transfer(let transfer): present(transfer.state, event)
        default: break
        }
    }

    private func present(_ transfer: FileTransfer.State, _ event: LiveCallEvent) {
        switch transfer {
        case .declined: Terminal.say("\(text(event)) To receive files: --receive FOLDER")
        case .receiving, .received, .sent: say(event)
        case .sending: break
        case .failed(let reason): warn(event, reason)
        case .undelivered(let participants):
            for participant in participants {
                Terminal.warn("\(participant.name): \(ErrorText.text(participant.reason))")
            }
        }
    }
}

extension LiveCallSnapshot {
    /// True if a recording waits until somebody else is in the room.
    fileprivate var waitsForOthersToRecord: Bool { isRecordingAwaited && sound == .waiting && participants.isEmpty }
}

extension Collection where Element == JoinRequest {
    /// The names of the asking guests with their numbers: `1 Ann, 2 Bob`.
    var numbered: String { enumerated().map { "\($0 + 1) \($1.guest.name)" }.joined(separator: ", ") }
}
