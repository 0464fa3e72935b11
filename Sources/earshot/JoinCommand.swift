import ArgumentParser
import Call
import Foundation
import MediaTransport
import Nearby
import Rooms

struct JoinCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join", abstract: "Enter a room near you, and talk with those who are in.",
        discussion: """
            Without ROOM the rooms near are shown as they come and go, and a number enters one. What ROOM is, its form tells:
            a number with dots or colons is an address, a join code has its length and check character, a machine's name has
            a dot or a port; all else is a room's name. --by says it where that is wrong.
            """)

    @Argument(
        help:
            "A room's NAME, ADDRESS, ADDRESS:PORT, [IPv6]:PORT, HOST, HOST:PORT, or a join code. Default: shows which there are."
    )
    var room: String?

    @Option(help: ArgumentHelp("What ROOM is: name, address or code.", valueName: "form"))
    var by: JoinTarget.Form?

    @Option(
        help: ArgumentHelp("What you want, for the host who decides; up to 200 bytes.", valueName: "words"))
    var purpose: String?

    @Flag(help: "List the rooms near, and end.")
    var list = false

    @Option(
        help: ArgumentHelp(
            "Seconds to look for a room; default 10, with --list 3.", valueName: "seconds"))
    var timeout: Double?

    @OptionGroup var own: RoomOptions

    @Option(
        help: ArgumentHelp(
            "The port for signalling (TCP) and sound (UDP); another where it is taken. Default: 47400.",
            valueName: "port"))
    var port: UInt16?

    @OptionGroup var call: CallOptions

    func validate() throws {
        if let room { try RoomOptions.check { try JoinTarget(room, as: by) } }
        if let purpose { try RoomOptions.check { try Purpose(purpose) } }
        if let timeout, !(timeout > 0 && timeout <= 3_600) {
            throw ValidationError("--timeout takes a number of seconds above 0")
        }
        if list, room != nil { throw ValidationError("--list takes no room; it lists all that are near") }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            if list { return try showList() }
            let keys = Terminal.isInteractive ? Keys() : nil
            var pin = try own.readPIN(keys)
            let found = try find(keys)
            if found.needsPIN, pin == nil, let keys { pin = try PINPrompt.read(keys, "the PIN of '\(found.name)'") }
            let card = try SoundCard(call)
            let session: CallSession
            let nearby: NearbySession
            do {
                session = try call.makeCall(card)
                var configuration = NearbySession.Configuration(name: own.ownName, store: own.store)
                configuration.port = port ?? JoinCode.usualPort
                configuration.takesAnyPort = true
                configuration.media = session
                nearby = try NearbySession.opened(configuration)
            } catch {
                card.close()
                throw error
            }
            let console = RoomConsole(nearby, keys: keys, policy: keys == nil ? .known : .ask)
            do {
                try enter(found, pin, console, keys)
            } catch {
                Terminal.live("")
                waiting { await nearby.close() }
                card.close()
                throw error
            }
            if keys != nil { Terminal.say(RoomKeys.hint(isHost: false)) }
            try RoomRunner(call, isHost: false, console: console, card: card, call: session).run()
        }
    }

    private func showList() throws {
        let listing = RoomListing(rooms: try RoomSearch.list(within: timeout ?? 3))
        if call.json { return try Terminal.output(listing.document()) }
        guard !listing.rooms.isEmpty else {
            return Terminal.say(
                "no room was seen within \(Int((timeout ?? 3).rounded(.up))) s; open one with: earshot host")
        }
        try Terminal.output(listing.table(hasColour: Terminal.outputHasColour))
    }

    private func find(_ keys: Keys?) throws -> RoomSearch.Found {
        let search = RoomSearch(keys: keys, timeout: timeout ?? 10)
        guard let room else {
            Terminal.say("rooms near you; press a number to enter, q to leave")
            return try search.pick()
        }
        switch try JoinTarget(room, as: by) {
        case .code(let code):
            return .init(
                endpoint: Endpoint(code), name: HostCommand.shown(SocketAddress(code.address, port: code.port)))
        case .address(let address):
            return .init(endpoint: Endpoint(addresses: [address], key: .any), name: HostCommand.shown(address))
        case .host(let host, let port):
            let addresses = try SocketAddress.resolve(host, port: port)
            return .init(endpoint: Endpoint(addresses: addresses, key: .any), name: host)
        case .name(let name): return try search.find(name)
        }
    }

    /// Asks to be let in, until it is decided. A PIN that is wanted is asked for where somebody can answer.
    private func enter(_ found: RoomSearch.Found, _ pin: PIN?, _ console: RoomConsole, _ keys: Keys?) throws {
        let nearby = console.session
        let purpose = try purpose.map { try Purpose($0) }
        try waiting { try await nearby.join(found.endpoint, pin: pin, purpose: purpose) }
        while console.me == nil {
            guard console.press(within: 0.02) else { throw ExitCodes.done }
            if Interrupt.isRequested { throw ExitCodes.interrupted }
            console.take()
            if console.wantsPIN {
                console.wantsPIN = false
                guard let keys else { throw Failure(RoomGuest.Ending.refused(.pinNeeded)) }
                let pin = try PINPrompt.read(keys, "the room's PIN")
                waiting { await nearby.provide(pin) }
            }
            guard let ending = console.ending else { continue }
            guard case .refused(.wrongPIN) = ending, let keys, own.pin == nil else { throw Failure(ending) }
            Terminal.warn("\(ending)")
            console.ending = nil
            let pin = try PINPrompt.read(keys, "the room's PIN")
            try waiting { try await nearby.join(found.endpoint, pin: pin, purpose: purpose) }
        }
    }
}

extension CallOptions {
    /// The call on a card, before there is anybody to talk with.
    func makeCall(_ card: SoundCard) throws -> CallSession {
        // RFC 7022: it names this end of this call, and nothing else.
        let name = String(UInt64.random(in: .min ... .max), radix: 36)
        return CallSession(
            preferences(deviceRate: card.device.sampleRate, deviceBlock: card.device.blockFrameCount),
            device: card.device, cname: name, voice: try voice.makeVoice(card, channelCount: channels))
    }
}
