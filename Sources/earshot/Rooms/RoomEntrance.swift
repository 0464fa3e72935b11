import ArgumentParser
import Foundation
import MediaTransport
import Nearby
import Rooms

/// Which room is meant, and how one comes in: what `join`, `chat` and `send` share.
struct EntranceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("What ROOM is: name, address or code.", valueName: "form"))
    var by: JoinTarget.Form?

    @Option(help: ArgumentHelp("What you want, for the host who decides; up to 200 bytes.", valueName: "words"))
    var purpose: String?

    @Option(help: ArgumentHelp("Seconds to look for a room; default 10, of join --list 3.", valueName: "seconds"))
    var timeout: Double?

    func validate() throws {
        if let purpose { try RoomOptions.check { try Purpose(purpose) } }
        if let timeout, !(timeout > 0 && timeout <= 3_600) {
            throw ValidationError("--timeout takes a number of seconds above 0")
        }
    }

    /// Looks for the room, and has the PIN where it announces that it wants one and somebody can answer.
    func locate(_ room: String?, _ own: RoomOptions, _ keys: Keys?) throws -> (found: RoomSearch.Found, pin: PIN?) {
        let pin = try own.readPIN(keys)
        let found = try find(room, keys)
        guard found.needsPIN, pin == nil, let keys else { return (found, pin) }
        return (found, try PINPrompt.read(keys, "the PIN of '\(found.name)'"))
    }

    /// Where none is named, the person picks one.
    private func find(_ room: String?, _ keys: Keys?) throws -> RoomSearch.Found {
        let search = RoomSearch(keys: keys, timeout: timeout ?? 10)
        guard let room else {
            if keys != nil { Terminal.say("rooms near you; press a number to enter, q to leave") }
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
    func enter(_ found: RoomSearch.Found, _ pin: PIN?, _ own: RoomOptions, _ console: RoomConsole, _ keys: Keys?) throws
    {
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

    /// Finds the room and enters it without sound; the keys are read until then.
    /// - Parameter policy: whom to let in once this machine admits.
    /// - Returns: in it.
    func enter(
        _ room: String?, _ own: RoomOptions, receivingInto folder: String?, printsMessages: Bool = false,
        policy: AdmissionPolicy = .known
    ) throws -> RoomConsole {
        let keys = Terminal.isInteractive ? Keys() : nil
        let (found, pin) = try locate(room, own, keys)
        var configuration = NearbySession.Configuration(name: own.ownName, store: own.store)
        configuration.takesAnyPort = true
        configuration.isMuted = true
        let nearby = try NearbySession.opened(configuration)
        let console = RoomConsole(nearby, keys: keys, policy: policy)
        console.receive(into: folder, printsMessages: printsMessages)
        do {
            try enter(found, pin, own, console, keys)
        } catch {
            Terminal.live("")
            waiting { await nearby.close() }
            throw error
        }
        console.giveUpKeys()
        return console
    }
}
