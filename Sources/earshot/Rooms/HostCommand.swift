// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotCall
import EarshotLiveCall
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms
import Foundation

struct HostCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "host", abstract: "Open a room, let people near in, and talk with them.",
        discussion: """
            Others find the room by its name (earshot join NAME, or earshot join and a number), by this machine's address, or
            by the join code that is shown. All is encrypted; whom you let in when you are asked is known by the key from
            then on. One port is used, TCP to set up the call and UDP for its sound. When the host leaves the room goes on
            with those who are in.
            """)

    @Argument(help: "The room's name, up to 63 bytes of UTF-8. Default: your own.")
    var room: String?

    @Option(
        help: ArgumentHelp(
            "Whom to let in: all, known (whom you let in when you were asked, or whose room you entered), ask. Default: ask on a terminal, else known.",
            valueName: "whom"))
    var accept: AdmissionPolicy?

    @Option(help: ArgumentHelp("Earshots in the room at most, yours among them: 2 to 8.", valueName: "count"))
    var capacity = Roster.maximumNativeCount

    @Flag(help: "Do not announce the room: guests need the address or the join code.")
    var noAnnounce = false

    @OptionGroup var own: RoomOptions

    @Option(help: "The port to listen on, TCP and UDP.")
    var port = JoinCode.usualPort

    @Option(help: ArgumentHelp("The address of this machine to listen on; default all.", valueName: "address"))
    var address: String?

    @OptionGroup var call: CallOptions

    func validate() throws {
        if let room { try RoomOptions.check { try PeerName(room) } }
        guard (2...Roster.maximumNativeCount).contains(capacity) else {
            throw ValidationError("--capacity takes 2 to \(Roster.maximumNativeCount)")
        }
        guard port > 0 else { throw ValidationError("--port takes 1 to 65535") }
        if let address, IPAddress(address) == nil {
            throw ValidationError("--address takes an IP address of this machine")
        }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            try CallOptions.checkFolder(call.receive)
            let keys = Terminal.isInteractive ? Keys() : nil
            let pin = try own.readPIN(keys)
            let card = try SoundCard(call)
            let live: LiveCall
            do {
                live = try makeCall(card, keys)
            } catch {
                card.close()
                throw error
            }
            let presenter = RoomPresenter(live, answers: keys == nil ? .none : .keys, card: card, staysAlone: true)
            do {
                var opening = RoomOpening(name: try room.map { try PeerName($0) } ?? own.ownName)
                (opening.pin, opening.capacity, opening.isAnnounced) = (pin, capacity, !noAnnounce)
                try presenter.open(opening)
                introduce(live, opening, keys: keys)
            } catch {
                waiting { await live.close() }
                throw error
            }
            Terminal.say("waiting for guests")
            let input = RoomInput(live, keys: keys)
            try RoomRunner(call, isHost: true, presenter: presenter, input: input, card: card).run()
        }
    }

    private func makeCall(_ card: SoundCard, _ keys: Keys?) throws -> LiveCall {
        let media = try call.makeCall(card)
        var session = NearbySession.Configuration(name: own.ownName, store: own.store)
        session.port = port
        session.address = address.flatMap { IPAddress($0) }
        session.media = media
        var configuration = call.configuration
        configuration.admission = accept ?? (keys == nil ? .known : .ask)
        configuration.staysAlone = true
        return try LiveCall(configuration, room: try NearbySession.opened(session), sound: (media, card))
    }

    /// Prints how others join, and who is admitted.
    private func introduce(_ live: LiveCall, _ opening: RoomOpening, keys: Keys?) {
        let lines = RoomIntroduction.lines(
            of: opening.name, live, own: own.ownName, hasPIN: opening.pin != nil, at: address.flatMap { IPAddress($0) },
            command: "join")
        Terminal.say(lines.joined(separator: "\n"))
        if live.snapshot.admission == .ask, keys == nil {
            Terminal.warn("there is no terminal to answer on: nobody is let in; use --accept known or all")
        }
        if keys != nil { Terminal.say(RoomKeyBindings.hint(isHost: true)) }
        let port = live.port
        // On a thread of its own: the look may take a second.
        Thread.detachNewThread {
            if let words = FirewallWords.atStart(Firewall.ofThisMachine(), port: port) { Terminal.warn(words) }
        }
    }

    /// A room's name as `join` and `chat` take it for one, as arguments of a shell.
    static func argument(for room: PeerName) -> String {
        let form = (try? JoinTarget(room.text)) == .name(room) ? "" : "--by name "
        return form + (room.text.hasPrefix("-") ? "-- " : "") + quoted(room.text)
    }

    /// Returns an argument of a shell.
    static func quoted(_ text: String) -> String {
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
        return isPlain && !text.hasPrefix("-") ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }

    /// Returns the address as `join` takes it.
    static func shown(_ address: SocketAddress) -> String {
        address.port == JoinCode.usualPort ? address.address.description : address.description
    }
}

extension NearbySession {
    /// Opens the ports, while the command's own thread waits.
    static func opened(_ configuration: Configuration) throws -> NearbySession {
        try waiting { try await NearbySession(configuration) }
    }
}
