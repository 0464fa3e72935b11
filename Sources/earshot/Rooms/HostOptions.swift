// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotCall
import EarshotLiveCall
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms
import Foundation

/// The options of a host, and the run of its call, shared by `host` and `duet host`.
struct HostOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Admit all guests, only known ones, or ask for each. [default: ask on a terminal, otherwise known]",
            valueName: "policy"))
    var accept: AdmissionPolicy?

    @Option(help: ArgumentHelp("Participants in the room at most, you included: 2 to 8.", valueName: "count"))
    var capacity = Roster.maximumNativeCount

    @Flag(help: "Do not announce the room. Guests need its address or join code.")
    var noAnnounce = false

    @OptionGroup var own: RoomOptions

    @Option(help: ArgumentHelp("Port to listen on, TCP and UDP.", valueName: "port"), transform: PortArgument.number)
    var port = JoinCode.usualPort

    @Option(help: ArgumentHelp("Address of this machine to listen on. [default: all]", valueName: "address"))
    var address: String?

    @OptionGroup var call: CallOptions

    func validate() throws {
        guard (2...Roster.maximumNativeCount).contains(capacity) else {
            throw ValidationError("--capacity must be 2 to \(Roster.maximumNativeCount)")
        }
        if let address, IPAddress(address) == nil {
            throw ValidationError("--address must be an IP address of this machine")
        }
    }

    /// Opens the room and runs the call to its end.
    /// - Parameters:
    ///   - room: the room's name; nil for the default.
    ///   - command: the command with which others join.
    ///   - prepare: is called with the open room.
    func run(room: String?, joinedBy command: String = "join", prepare: (LiveCall) -> Void = { _ in }) throws {
        try Failure.reporting {
            Interrupt.watch()
            try call.checkFolders()
            let keys = Terminal.isInteractive ? KeyboardInput() : nil
            let pin = try own.readPIN(keys)
            let card = try call.openCard(keys, storesAnswer: !own.ephemeral)
            let live: LiveCall
            do {
                live = try makeCall(card, keys)
            } catch {
                card.close()
                throw error
            }
            let presenter = RoomPresenter(live, answers: keys == nil ? .none : .keys, card: card, staysAlone: true)
            presenter.isDuet = call.isDuet
            do {
                var opening = RoomOpening(name: try room.map { try PeerName($0) } ?? DefaultName.room(of: own.name))
                (opening.pin, opening.capacity, opening.isAnnounced) = (pin, capacity, !noAnnounce)
                try call.voice.addEffects(to: live)
                try presenter.open(opening)
                introduce(live, opening, keys: keys, command)
                prepare(live)
            } catch {
                waiting { await live.close() }
                throw error
            }
            Terminal.say("Waiting for guests.")
            let input = RoomInput(live, keys: keys)
            try RoomRunner(call, isHost: true, presenter: presenter, input: input, card: card).run()
        }
    }

    private func makeCall(_ card: SoundCard, _ keys: KeyboardInput?) throws -> LiveCall {
        let media = try call.makeCall(card)
        var session = NearbySession.Configuration(name: own.ownName, store: own.store)
        session.port = port
        session.address = address.flatMap { IPAddress($0) }
        session.media = media
        var configuration = call.configuration(canAsk: keys != nil)
        configuration.admission = accept ?? (keys == nil ? .known : .ask)
        configuration.staysAlone = true
        return try LiveCall(configuration, room: try NearbySession.opened(session), sound: (media, card))
    }

    /// Prints how others join, and who is admitted.
    private func introduce(_ live: LiveCall, _ opening: RoomOpening, keys: KeyboardInput?, _ command: String) {
        let lines = RoomIntroduction.lines(
            of: opening.name, live, own: own.ownName, hasPIN: opening.pin != nil, at: address.flatMap { IPAddress($0) },
            command: command)
        Terminal.say(lines.joined(separator: "\n"))
        if live.snapshot.admission == .ask, keys == nil {
            Terminal.warn(
                "No terminal to confirm guests on, so nobody is admitted. Use --accept known or --accept all.")
        }
        if keys != nil { Terminal.say(RoomKeyBindings.hint(isHost: true, records: !call.isDuet)) }
        let port = live.port
        // The check of the firewall may take a second, so it runs on its own thread.
        Thread.detachNewThread {
            if let words = FirewallWords.atStart(Firewall.detectLocal(), port: port) { Terminal.warn(words) }
        }
    }
}
