// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotLiveCall
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms
import Foundation

/// The options for finding and entering a room, shared by `join`, `chat`, `send` and `forecast`.
struct JoinOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Interpret the room as name, address or code. [default: guessed]", valueName: "form"))
    var by: JoinTarget.Form?

    @Option(help: ArgumentHelp("Message to the host who admits you, up to 200 bytes.", valueName: "text"))
    var purpose: String?

    @Option(
        help: ArgumentHelp("Time to search for a room. [default: 10s; join --list: 3s]", valueName: "time"),
        transform: TimeArgument.above0)
    var timeout: Double?

    func validate() throws {
        if let purpose { try RoomOptions.check { try Purpose(purpose) } }
    }

    /// Finds the room. Asks for the PIN if the room needs one, none was given, and the user can answer on a terminal.
    /// - Parameters:
    ///   - chosen: the room if the user has chosen it already.
    ///   - command: the command with which the user joins.
    func locate(
        _ room: String?, _ own: RoomOptions, _ keys: KeyboardInput?, chosen: RoomSearch.Found? = nil,
        command: String = "join"
    ) throws -> (found: RoomSearch.Found, pin: PIN?) {
        let pin = try own.readPIN(keys)
        let found = try chosen ?? find(room, keys, command)
        guard found.needsPIN, pin == nil, let keys else { return (found, pin) }
        return (found, try PINPrompt.read(keys, "PIN of '\(found.name)'"))
    }

    /// Finds the room that `room` names; lets the user choose from a list if `room` is nil.
    private func find(_ room: String?, _ keys: KeyboardInput?, _ command: String) throws -> RoomSearch.Found {
        let search = RoomSearch(keys: keys, timeout: timeout ?? 10, isLimited: timeout != nil, command: command)
        guard let room else {
            if keys != nil { Terminal.say("Rooms on this network. Press a number to join one, q to quit.") }
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

    /// Asks the host to admit the local participant, and waits for the decision. Asks the user for a PIN if the host wants one.
    func enter(
        _ found: RoomSearch.Found, _ pin: PIN?, _ own: RoomOptions, _ presenter: RoomPresenter, _ keys: KeyboardInput?
    ) throws {
        let call = presenter.call
        let input = RoomInput(call, keys: keys)
        try call.perform(.join(found.endpoint, pin: pin, purpose: try purpose.map { try Purpose($0) }))
        while true {
            guard input.press(within: 0.02) else { throw ExitCodes.cancelled }
            if Interrupt.isRequested { throw ExitCodes.interrupted }
            presenter.present()
            let snapshot = call.snapshot
            // A participant who was admitted returns even if the call has ended already, so that the call's report is printed.
            if snapshot.localParticipant != nil { return presenter.present() }
            if let ending = snapshot.ending { throw Failure(ending) }
            guard let request = snapshot.pinRequest else { continue }
            let pin = try readPIN(request, own, keys)
            try? call.perform(.providePIN(pin))  // refused if the host has gone meanwhile
        }
    }

    private func readPIN(_ request: LiveCallSnapshot.PINRequest, _ own: RoomOptions, _ keys: KeyboardInput?) throws
        -> PIN
    {
        switch request {
        case .missing:
            guard let keys else { throw Failure(RoomEnding.refused(.pinNeeded)) }
            return try PINPrompt.read(keys, "PIN of the room")
        case .wrong(let attemptsLeft):
            let ending = RoomEnding.refused(.wrongPIN(attemptsLeft: attemptsLeft))
            guard let keys, own.pin == nil else { throw Failure(ending) }
            Terminal.warn(ending)
            return try PINPrompt.read(keys, "PIN of the room")
        }
    }

    /// Finds the room and joins it without sound. The terminal's keys are read until the room is joined.
    /// - Parameters:
    ///   - answers: the way in which the user answers join requests if the local participant becomes the host.
    ///   - isChat: true if the user writes and reads messages.
    func enter(
        _ room: String?, _ own: RoomOptions, _ configuration: LiveCall.Configuration,
        answers: RoomPresenter.Answers, isChat: Bool
    ) throws -> RoomPresenter {
        let keys = Terminal.isInteractive ? KeyboardInput() : nil
        let (found, pin) = try locate(room, own, keys)
        var session = NearbySession.Configuration(name: own.ownName, store: own.store)
        session.takesAnyPort = true
        session.isMuted = true
        var configuration = configuration
        configuration.isMuted = true
        let call = try LiveCall(configuration, room: try NearbySession.opened(session))
        let presenter = RoomPresenter(
            call, answers: answers, staysAlone: isChat, printsMessages: isChat)
        do {
            try enter(found, pin, own, presenter, keys)
        } catch {
            Terminal.live("")
            waiting { await call.close() }
            throw error
        }
        return presenter
    }
}
