// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import EarshotCall
import EarshotLiveCall
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms
import Foundation

/// Prints what happens in a call.
///
/// For the command's thread.
final class RoomPresenter {
    /// The way in which the user answers join requests.
    enum Answers {
        /// With single keys.
        case keys
        /// With lines that begin with a slash.
        case lines
        /// Not at all.
        case none
    }

    let call: LiveCall
    let answers: Answers
    /// True if messages go to standard output, rather than to the terminal.
    private let printsMessages: Bool
    /// The sound card that the user asked for; nil if nothing is said of it.
    private let card: SoundCard?
    private let staysAlone: Bool
    private var lastEvent: UInt64 = 0

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

    /// Prints the events since the last time. Messages wait while nobody reads standard output.
    func present() {
        for event in call.pastEvents(after: lastEvent) {
            if printsMessages, case .messageReceived = event.kind, !Terminal.canOutput { return }
            if event.number > lastEvent + 1 { Terminal.warn("\(event.number - lastEvent - 1) events were missed") }
            lastEvent = event.number
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

    private var snapshot: LiveCallSnapshot { call.snapshot }
    private var hasSound: Bool { snapshot.sound != .none }
    /// The command that others join with.
    private var command: String { hasSound ? "join" : "chat" }

    private func present(_ event: LiveCallEvent.Kind) {
        switch event {
        case .roomFound(let info):
            Terminal.say("'\(info.name)' is there; asking its host, \(info.hostName), to be let in")
        case .hostSlow: Terminal.say("waiting for the host to answer; Ctrl-C gives up")
        case .pinRequested, .roomOpened, .ended: break
        case .askedAgain(let participant):
            Terminal.say("\(participant.name) admits now and does not know you; asking again")
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
        case .messageReceived, .messagesLost, .streamRefused, .transfer: presentTransfer(event)
        }
    }

    // MARK: The room

    private func presentRoom() {
        guard let own = snapshot.localParticipant, let room = snapshot.room else { return }
        let names = snapshot.participants.map { $0.isHost ? "\($0.name) (host)" : $0.name.text }
        Terminal.say("in '\(room.name)' as \(own.name), with \(names.joined(separator: ", "))")
    }

    private func presentRoomEvent(_ event: LiveCallEvent.Kind) {
        switch event {
        case .participantJoined(let participant): Terminal.say("\(participant.name) is in the room")
        case .participantLeft(let participant, let isLost):
            Terminal.say(isLost ? "\(participant.name) did not come back" : "\(participant.name) has left")
        case .participantRenamed(let participant, let old): Terminal.say("\(old) is called \(participant.name) now")
        case .participantMuted(let participant):
            Terminal.say(
                participant.isMuted ? "\(participant.name) is muted" : "\(participant.name) is not muted any more")
        case .participantAway(let participant):
            if participant.isAway {
                Terminal.warn("\(participant.name) is out of reach; the place is kept for a minute")
            } else {
                Terminal.say("\(participant.name) is there again")
            }
        case .hostChanged(let participant): Terminal.say("\(participant.name) admits to the room now")
        case .becameHost: presentOwnHosting()
        case .hostLost: Terminal.warn("the host is out of reach; looking for it")
        case .hostFound: Terminal.say("the host is there again")
        case .roomSplit(let info):
            Terminal.warn(
                "another part of this room is about, under \(info.hostName): leave and join it by its host's address, if you want"
            )
        case .descriptionForged(let participant):
            Terminal.warn(
                "what the host passed on as \(participant.name)'s was not signed by them, and was not used: somebody may be between"
            )
        default: break
        }
    }

    private func presentOwnHosting() {
        guard staysAlone || !snapshot.participants.isEmpty else { return }
        let ways = RoomIntroduction.waysIn(call).joined(separator: " or ")
        Terminal.say("you admit to the room now\(ways.isEmpty ? "" : "; others join with: earshot \(command) \(ways)")")
        Terminal.say(RoomIntroduction.admission(snapshot.admission))
        if answers == .keys { Terminal.say(RoomKeyBindings.hint(isHost: true)) }
    }

    /// Prints the announcement, unless a guest took over and is alone.
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
        Terminal.warn("\(guest.name) (\(key), \(standing), \(guest.address)) asks to join\(purpose)")
        let requests = snapshot.joinRequests
        switch answers {
        case .keys:
            Terminal.say(
                requests.count > 1
                    ? "\(requests.prefix(9).numbered) ask: the number, then y lets in, n declines, b blocks"
                    : "y lets in, n declines, b blocks")
        case .lines:
            Terminal.say(
                requests.count > 1
                    ? "\(requests.numbered) ask: /y and the number lets in, /n declines, /b blocks"
                    : "/y lets in, /n declines, /b blocks")
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
                "effects: \(effects.names.joined(separator: ", ")); "
                    + String(format: "your effects add %.1f ms", effects.latency * 1e3))
        case .device(let event, let device):
            Terminal.say(event.text)
            guard case .routeChanged(let change) = event, let card else { return }
            Terminal.say(CallReport.Device(device, card.asked).summary(change.current))
        case .microphone(let finding):
            // A simulated microphone is silent when its file has ended.
            if let card, card.asked.device != .simulated, let advice = finding.advice { Terminal.warn(advice) }
        case .voiceProcessing(.chosen(let choice, let latency)):
            let cost = choice.isOn ? String(format: "; it adds %.1f ms", latency * 1e3) : ""
            Terminal.say("voice processing: \(choice.isOn ? "on" : "off"), \(choice.reason)\(cost)")
        case .voiceProcessing(.failed(let error)): Terminal.warn(error)
        case .muted(let isMuted): Terminal.say(isMuted ? "muted; m speaks again" : "not muted any more")
        default: break
        }
    }

    private func presentMedia(_ event: LiveCallEvent.Kind) {
        switch event {
        case .callBegan(let participant, let format):
            if card != nil { Terminal.say("in a call with \(participant.name), \(format.words)") }
        case .transportFailed(let participant, let error):
            Terminal.warn("no sound with \(participant.name): \(ErrorText.text(error))")
        case .negotiationFailed(let participant, let error):
            Terminal.warn("no sound with \(participant.name): \(ErrorText.text(error))")
        case .linkRate(let participant, let rate):
            guard card != nil else { return }
            if let summary = rate?.summary {
                Terminal.warn("\(participant.name): \(summary)")
            } else {
                Terminal.say("the link to \(participant.name) carries all again")
            }
        case .mediaMissing(let participant, let remotePort):
            // On a thread of its own: reading the firewall's rules may take a second.
            let (name, port) = (participant.name.text, call.port)
            Thread.detachNewThread {
                Terminal.warn(
                    FirewallWords.noMedia(from: name, Firewall.ofThisMachine(), port: port, farPort: remotePort))
            }
        default: break
        }
    }

    // MARK: Messages and files

    private func presentTransfer(_ event: LiveCallEvent.Kind) {
        switch event {
        case .messageReceived(let message): present(message)
        case .messagesLost(let name, let count, let reason):
            Terminal.warn("\(name) did not get \(count == 1 ? "a line" : "\(count) lines"): \(reason)")
        case .streamRefused(let name, let stream):
            Terminal.say("\(Self.text(name)) opened a stream, '\(stream)', for which there is no use here")
        case .transfer(let transfer): present(transfer)
        default: break
        }
    }

    private static func text(_ name: PeerName?) -> String { name?.text ?? "somebody who left" }

    private func present(_ message: ChatMessage) {
        let name = Self.text(message.senderName)
        guard let text = message.text else {
            return Terminal.say("\(name) sent \(FileFormatting.size(message.byteCount)) that are no text")
        }
        let lines = Self.lines(text, of: name)
        guard printsMessages else { return Terminal.say(lines) }
        try? Terminal.output(TerminalText.sanitizedLines(lines) + "\n")
    }

    /// The name stands before each line, so that none can pass for another's.
    static func lines(_ text: String, of name: String) -> String {
        let lines = text.split(omittingEmptySubsequences: true, whereSeparator: \.isNewline)
        return lines.isEmpty ? "\(name): " : lines.map { "\(name): \($0)" }.joined(separator: "\n")
    }

    private func present(_ transfer: FileTransfer) {
        let what = "'\(transfer.name)' (\(FileFormatting.size(Int(transfer.byteCount))))"
        let name = Self.text(transfer.sender)
        switch transfer.state {
        case .declined: Terminal.say("\(name) wanted to send \(what); to take files add: --receive FOLDER")
        case .receiving: Terminal.say("\(name) sends \(what)")
        case .received(let path): Terminal.say("\(name) has sent \(path)")
        case .sending: break
        case .sent: Terminal.say("\(transfer.name) is sent")
        case .failed(let reason):
            let text = ErrorText.text(reason)
            Terminal.warn(transfer.sender == nil ? text : "\(what) of \(name) did not arrive: \(text)")
        case .undelivered(let participants):
            for participant in participants {
                Terminal.warn("\(participant.name): \(ErrorText.text(participant.reason))")
            }
        }
    }
}

extension Collection where Element == JoinRequest {
    /// `1 Ann, 2 Bob`.
    var numbered: String { enumerated().map { "\($0 + 1) \($1.guest.name)" }.joined(separator: ", ") }
}
