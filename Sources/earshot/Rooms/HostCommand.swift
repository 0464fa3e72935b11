// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotCall
import EarshotLiveCall
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms
import Foundation

struct HostCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "host", abstract: "Open a room and host a call.",
        discussion: """
            Guests find the room by its name, by this machine's address or by the join code that is shown. Everything is encrypted. Guests you admit are remembered by key. One port is used, TCP for signalling and UDP for audio. If the host leaves, a guest becomes the host and the room goes on.
            """)

    static let examples = [
        CommandExample("Open a room and confirm each guest", "earshot host 'Blue Room'"),
        CommandExample("Sing with known guests over JACK", "earshot host --accept known --device jack --dial sing"),
        CommandExample(
            "Record the call as FLAC files to the folder Take1",
            "earshot host 'Blue Room' --record Take1 --record-format flac"),
    ]

    @Argument(help: "The room's name, up to 63 bytes. [default: NAME's room]")
    var room: String?

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

    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws {
        if let room { try RoomOptions.check { try PeerName(room) } }
        guard (2...Roster.maximumNativeCount).contains(capacity) else {
            throw ValidationError("--capacity must be 2 to \(Roster.maximumNativeCount)")
        }
        if let address, IPAddress(address) == nil {
            throw ValidationError("--address must be an IP address of this machine")
        }
        try call.recording.rejectAmbiguousFolder(room: room)
    }

    func run() throws {
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
            do {
                var opening = RoomOpening(name: try room.map { try PeerName($0) } ?? DefaultName.room(of: own.name))
                (opening.pin, opening.capacity, opening.isAnnounced) = (pin, capacity, !noAnnounce)
                try call.voice.addEffects(to: live)
                try presenter.open(opening)
                introduce(live, opening, keys: keys)
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
    private func introduce(_ live: LiveCall, _ opening: RoomOpening, keys: KeyboardInput?) {
        let lines = RoomIntroduction.lines(
            of: opening.name, live, own: own.ownName, hasPIN: opening.pin != nil, at: address.flatMap { IPAddress($0) },
            command: "join")
        Terminal.say(lines.joined(separator: "\n"))
        if live.snapshot.admission == .ask, keys == nil {
            Terminal.warn(
                "No terminal to confirm guests on, so nobody is admitted. Use --accept known or --accept all.")
        }
        if keys != nil { Terminal.say(RoomKeyBindings.hint(isHost: true)) }
        let port = live.port
        // The check of the firewall may take a second, so it runs on its own thread.
        Thread.detachNewThread {
            if let words = FirewallWords.atStart(Firewall.detectLocal(), port: port) { Terminal.warn(words) }
        }
    }

    /// Returns a room's name as an unambiguous shell argument of `join` and `chat`.
    static func argument(for room: PeerName) -> String {
        let option = (try? JoinTarget(room.text)) == .name(room) ? "" : "--by name "
        return option + (room.text.hasPrefix("-") ? "-- " : "") + quoted(room.text)
    }

    /// Returns the text as one shell argument, quoted if necessary.
    static func quoted(_ text: String) -> String {
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
        return isPlain && !text.hasPrefix("-") ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }

    /// Returns the address in the form that `join` reads, without the port if that is ``JoinCode/usualPort``.
    static func shown(_ address: SocketAddress) -> String {
        address.port == JoinCode.usualPort ? address.address.description : address.description
    }
}

extension NearbySession {
    /// Opens a session and its ports, while the calling thread waits.
    static func opened(_ configuration: Configuration) throws -> NearbySession {
        try waiting { try await NearbySession(configuration) }
    }
}
