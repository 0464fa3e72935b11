// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
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
    private let card: SoundCard?
    private let staysAlone: Bool
    private var lastEventNumber: UInt64 = 0
    private var hadVoiceProcessing = false
    /// The last completed recording of the local participant; nil before.
    private(set) var recording: CallRecordingResult?
    private var recordingNotices = RecordingNotices()
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
            present(event.kind)
        }
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
    /// so. An answer about recordings is confirmed, and so is a volume.
    func note(_ command: LiveCallCommand) {
        switch command {
        case .remove(let id): dismissalVerbs[id] = "Removed"
        case .block(let id): dismissalVerbs[id] = "Blocked"
        case .allowRecording(let isAllowed): Terminal.say(RecordingSentences.answered(isAllowed: isAllowed))
        case .startRecording where snapshot.waitsForOthersToRecord: Terminal.say(RecordingSentences.awaited)
        case .stopRecording where snapshot.recording == nil: Terminal.say(RecordingSentences.cancelled)
        case .setHeard(_, let id):
            if let participant = snapshot[id] { Terminal.say(VolumeSentences.heard(participant)) }
        case .setVolume(_, let id): noteSelection(id)
        case .setOutputVolume: noteSelection(nil)
        default: break
        }
    }

    /// Prints the volume of the selected participant, or of the whole playback, if there is no status line that shows it.
    func noteSelection(_ id: MemberID?) {
        guard !Terminal.redraws else { return }
        guard let id else { return Terminal.say(VolumeSentences.playback(snapshot.outputVolume)) }
        if let participant = snapshot[id] { Terminal.say(VolumeSentences.volume(of: participant)) }
    }

    private func departure(of participant: Participant, isLost: Bool) -> String {
        if let verb = dismissalVerbs.removeValue(forKey: participant.id) { return "\(verb) \(participant.name)." }
        return isLost ? "\(participant.name) did not return." : "\(participant.name) left."
    }

    private var snapshot: LiveCallSnapshot { call.snapshot }
    private var hasSound: Bool { snapshot.sound != .none }
    /// The command with which others join.
    private var command: String { hasSound ? "join" : "chat" }

    private func present(_ event: LiveCallEvent.Kind) {
        switch event {
        case .roomFound(let info):
            Terminal.say("Found '\(info.name)'. Asking its host \(info.hostName) to admit you.")
        case .hostSlow: Terminal.say("Waiting for the host to answer. Ctrl-C cancels.")
        case .pinRequested, .roomOpened, .ended: break
        case .askedAgain(let participant):
            Terminal.say("\(participant.name) is the host now and does not know you. Asking again.")
        case .roomJoined: presentRoom()
        case .participantJoined, .participantLeft, .participantRenamed, .participantMuted, .participantAway,
            .hostChanged, .becameHost, .hostLost, .hostFound, .roomSplit, .descriptionForged:
            presentRoomEvent(event)
        case .discovery(let state): present(state)
        case .storeFailed(let error): Terminal.warn(error)
        case .joinRequested(let request): present(request)
        case .joinRequestWithdrawn(let request, let error):
            if let words = error.hostSentence(about: request.guest.name.text) { Terminal.say(words) }
        case .guestRefused(let name, let error):
            if let words = error.hostSentence(about: name) { Terminal.warn(words) }
        case .soundStarted, .device, .microphone, .voiceProcessing, .muted: presentSound(event)
        case .callBegan, .transportFailed, .mediaMissing, .negotiationFailed, .linkRate:
            if hasSound { presentMedia(event) }
        case .recordingStarted, .recordingEnded, .recordingFailed, .participantRecording, .recordingConsentRequested,
            .recordingConsent:
            presentRecording(event)
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

    private func presentRoomEvent(_ event: LiveCallEvent.Kind) {
        switch event {
        case .participantJoined(let participant):
            Terminal.say("\(participant.name) joined.")
            presentVolume(of: participant)
            present(recordingNotices.noteArrival(of: participant))
        case .participantLeft(let participant, let isLost):
            Terminal.say(departure(of: participant, isLost: isLost))
        case .participantRenamed(let participant, let old): Terminal.say("\(old) is now called \(participant.name).")
        case .participantMuted(let participant):
            Terminal.say(
                "\(participant.name) is \(participant.isMuted ? "muted" : "no longer muted").")
        case .participantAway(let participant):
            if participant.isAway {
                Terminal.warn("Lost contact with \(participant.name). Waiting up to 60 s.")
            } else {
                Terminal.say("\(participant.name) is back.")
            }
        case .hostChanged(let participant): Terminal.say("\(participant.name) is the host now.")
        case .becameHost: presentOwnHosting()
        case .hostLost: Terminal.warn("Lost the host. Reconnecting.")
        case .hostFound: Terminal.say("Reconnected to the host.")
        case .roomSplit(let info):
            Terminal.warn(
                "The room has split: \(info.hostName) hosts another part. To change, leave and join it by its host's address."
            )
        case .descriptionForged(let participant):
            Terminal.warn(
                "Ignored a description of \(participant.name) that \(participant.name) did not sign. Somebody may be intercepting."
            )
        default: break
        }
    }

    private func presentOwnHosting() {
        guard staysAlone || !snapshot.participants.isEmpty else { return }
        let ways = RoomIntroduction.joinInstructions(call).joined(separator: " or ")
        Terminal.say("You are the host now.\(ways.isEmpty ? "" : " Others join with: earshot \(command) \(ways)")")
        Terminal.say(RoomIntroduction.admission(snapshot.admission))
        if answers == .keys { Terminal.say(RoomKeyBindings.hint(isHost: true)) }
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

    private func present(_ request: JoinRequest) {
        let guest = request.guest
        let key = guest.key.map { "key \($0)" } ?? "a browser"
        let standing = guest.isKnown ? "known" : guest.key == nil ? "cannot prove who it is" : "not known"
        let purpose = guest.purpose.map { ": \"\($0)\"" } ?? ""
        Terminal.notice("\(guest.name) (\(key), \(standing), \(guest.address)) asks to join\(purpose)")
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

    // MARK: Sound

    private func presentSound(_ event: LiveCallEvent.Kind) {
        switch event {
        case .soundStarted(let device, let effects):
            guard let card else { return }
            Terminal.say(CallReport.Device(device, card.asked).summary(device.route))
            guard let effects else { return }
            Terminal.say(
                "Effects: \(effects.names.joined(separator: ", ")), "
                    + String(format: "delay %.1f ms", effects.latency * 1e3))
        case .device(let event, let device):
            Terminal.say(event.text)
            guard case .routeChanged(let change) = event, let card else { return }
            Terminal.say(CallReport.Device(device, card.asked).summary(change.current))
        case .microphone(let finding):
            // A simulated microphone is silent when its file has ended.
            if let card, card.asked.device != .simulated, let advice = finding.advice { Terminal.warn(advice) }
        case .voiceProcessing(.chosen(let choice, let latency)):
            // In the mode `auto`, with headphones or an unknown device, voice processing is off as expected: nothing is printed.
            guard choice.isOn || hadVoiceProcessing || snapshot.voiceProcessingMode != .auto else { return }
            hadVoiceProcessing = choice.isOn
            let cost = choice.isOn ? String(format: ", delay %.1f ms", latency * 1e3) : ""
            Terminal.say("Voice processing: \(choice.isOn ? "on" : "off") (\(choice.reason))\(cost)")
        case .voiceProcessing(.failed(let error)): Terminal.warn(error)
        case .muted(let isMuted): Terminal.say(isMuted ? "Muted. Press m to unmute." : "Unmuted.")
        default: break
        }
    }

    private func presentMedia(_ event: LiveCallEvent.Kind) {
        switch event {
        case .callBegan(let participant, let format):
            if card != nil { Terminal.say("In a call with \(participant.name): \(format.summary)") }
        case .transportFailed(let participant, let error):
            Terminal.warn("No sound to or from \(participant.name): \(ErrorText.text(error))")
        case .negotiationFailed(let participant, let error):
            Terminal.warn("No sound to or from \(participant.name): \(ErrorText.text(error))")
        case .linkRate(let participant, let rate):
            guard card != nil else { return }
            if let summary = rate?.summary {
                Terminal.warn("\(participant.name): \(summary)")
            } else {
                Terminal.say("The link to \(participant.name) carries the full bit rate again.")
            }
        case .mediaMissing(let participant, let remotePort):
            // Reading the firewall's rules may take a second, so it happens on its own thread.
            let (name, port) = (participant.name.text, call.port)
            Thread.detachNewThread {
                Terminal.warn(
                    FirewallWords.noMedia(from: name, Firewall.detectLocal(), port: port, farPort: remotePort))
            }
        default: break
        }
    }

    // MARK: Recordings

    private func presentRecording(_ event: LiveCallEvent.Kind) {
        switch event {
        case .recordingStarted(let folder):
            let others = snapshot.participants
            Terminal.say(
                RecordingSentences.started(folder, seenBy: others.map(\.name.text), hasKeys: answers == .keys))
            present(recordingNotices.begin(with: others))
        case .recordingEnded(let result):
            recording = result
            recordingNotices.end()
            Terminal.say(RecordingSentences.ended(result))
        case .recordingFailed(let error): Terminal.warn(error.text)
        case .participantRecording(let participant):
            let name = participant.name.text
            Terminal.say(
                participant.isRecording
                    ? RecordingSentences.began(
                        name, isAllowed: isOwnVoiceAllowed, isAsked: isAskedAboutRecordings,
                        command: staysAlone ? "host" : "join")  // of the commands with a voice, only `host` stays alone
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

    private func presentTransfer(_ event: LiveCallEvent.Kind) {
        switch event {
        case .messageReceived(let message): present(message)
        case .messagesLost(let name, let count, let reason):
            Terminal.warn("\(name) did not receive \(count == 1 ? "a message" : "\(count) messages"): \(reason)")
        case .streamRefused(let name, let stream):
            Terminal.say("Refused the stream '\(stream)' of \(Self.text(name)).")
        case .transfer(let transfer): present(transfer)
        default: break
        }
    }

    private static func text(_ name: PeerName?) -> String { name?.text ?? "a former participant" }

    private func present(_ message: ChatMessage) {
        let name = Self.text(message.senderName)
        guard let text = message.text else {
            return Terminal.say("Received \(FileFormatting.size(message.byteCount)) from \(name) that are not text.")
        }
        let lines = Self.lines(text, of: name)
        guard printsMessages else { return Terminal.say(lines) }
        try? Terminal.output(TerminalText.sanitizedLines(lines) + "\n")
    }

    /// Returns a message with the sender's name before each line, so that no line can pass for another sender's message.
    static func lines(_ text: String, of name: String) -> String {
        let lines = text.split(omittingEmptySubsequences: true, whereSeparator: \.isNewline)
        return lines.isEmpty ? "\(name): " : lines.map { "\(name): \($0)" }.joined(separator: "\n")
    }

    private func present(_ transfer: FileTransfer) {
        let what = "'\(transfer.name)' (\(FileFormatting.size(Int(transfer.byteCount))))"
        let name = Self.text(transfer.sender)
        switch transfer.state {
        case .declined: Terminal.say("Declined \(what) from \(name). To receive files: --receive FOLDER")
        case .receiving: Terminal.say("Receiving \(what) from \(name).")
        case .received(let path): Terminal.say("Received \(path) from \(name).")
        case .sending: break
        case .sent: Terminal.say("Sent \(transfer.name).")
        case .failed(let reason):
            let text = ErrorText.text(reason)
            Terminal.warn(transfer.sender == nil ? text : "Cannot receive \(what) from \(name): \(text)")
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
