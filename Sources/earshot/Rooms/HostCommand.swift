import ArgumentParser
import Call
import Foundation
import MediaTransport
import Nearby
import Rooms

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
            try RoomArrivals.check(call.receive)
            let keys = Terminal.isInteractive ? Keys() : nil
            let pin = try own.readPIN(keys)
            let card = try SoundCard(call)
            let session: CallSession
            let nearby: NearbySession
            do {
                session = try call.makeCall(card)
                var configuration = NearbySession.Configuration(name: own.ownName, store: own.store)
                configuration.port = port
                configuration.address = address.flatMap { IPAddress($0) }
                configuration.media = session
                nearby = try NearbySession.opened(configuration)
            } catch {
                card.close()
                throw error
            }
            let policy = accept ?? (keys == nil ? .known : .ask)
            let name = try room.map { try PeerName($0) } ?? own.ownName
            let console = RoomConsole(nearby, keys: keys, policy: policy)
            console.receive(into: call.receive)
            let (capacity, isAdvertised) = (capacity, !noAnnounce)
            do {
                try waiting {
                    try await nearby.host(
                        name, policy: policy, pin: pin, capacity: capacity, isAdvertised: isAdvertised)
                }
            } catch {
                waiting { await nearby.close() }
                card.close()
                throw error
            }
            introduce(nearby, name, policy, hasPIN: pin != nil, keys: keys)
            Terminal.say("waiting for guests")
            try RoomRunner(call, isHost: true, console: console, card: card, call: session).run()
        }
    }

    /// How others come in, and who is let in.
    private func introduce(
        _ nearby: NearbySession, _ name: PeerName, _ policy: AdmissionPolicy, hasPIN: Bool, keys: Keys?
    ) {
        let lines = RoomIntroduction.lines(
            of: name, nearby, own: own.ownName, policy, hasPIN: hasPIN, at: address.flatMap { IPAddress($0) },
            command: "join")
        Terminal.say(lines.joined(separator: "\n"))
        if policy == .ask, keys == nil {
            Terminal.warn("there is no terminal to answer on: nobody is let in; use --accept known or all")
        }
        if keys != nil { Terminal.say(RoomKeys.hint(isHost: true)) }
        let port = nearby.port
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

    /// As an argument of a shell.
    static func quoted(_ text: String) -> String {
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
        return isPlain && !text.hasPrefix("-") ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }

    /// As `join` takes it.
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
