// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms
import Foundation

/// Finds a room by its name, or lets the user choose a visible one.
struct RoomSearch {
    let keys: KeyboardInput?
    /// The maximum seconds to search for a room.
    let timeout: Double
    /// True if a search without a name also ends after ``timeout``, while no room is visible.
    var isLimited = false
    /// The command with which the user joins.
    var command = "join"

    /// The result of a search.
    struct Found {
        var endpoint: Endpoint
        /// The name of the room, address or host to show to the user.
        var name: String
        var needsPIN = false
        /// The song that the room sings; nil without one, or if the room was not found by its announcement.
        var song: String?
    }

    // MARK: By name

    /// Returns the room of a name. If no such room appears, returns the machine of that name.
    func find(_ name: PeerName) throws -> Found {
        let browser = RoomBrowser()
        defer { browser.stop() }
        let start = HostTime.now()
        var finder = RoomFinder(name.text, timeout: timeout, at: start)
        var shownSeconds = -1
        while true {
            if Interrupt.isRequested { throw ExitCodes.interrupted }
            let now = HostTime.now()
            switch finder.update(browser.snapshot, at: now) {
            case .found(let room): return try found(room)
            case .ambiguous(let rooms): return try choose(among: rooms, finder)
            case .notFound(let seen, let problem): return try look(up: name, seen: seen, problem)
            case nil: break
            }
            let elapsed = Int(now.seconds(since: start))
            if elapsed > shownSeconds {
                shownSeconds = elapsed
                let words = "Searching for '\(name)': \(shownSeconds) of \(Int(timeout)) s"
                if Terminal.isInteractive { StatusLine.live(words) } else if shownSeconds == 2 { Terminal.say(words) }
            }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    private func found(_ room: NearbyRoom) throws(Failure) -> Found {
        Terminal.live("")
        guard room.announcement.isOfKnownVersion else {
            throw Failure(
                "'\(room.name)' uses version \(room.announcement.version) of the signalling, this Earshot "
                    + "\(RoomAnnouncement.currentVersion); install the same version on both",
                status: Failure.unavailable)
        }
        return Found(
            endpoint: Endpoint(addresses: room.endpoints, key: .exactly(room.id.hostKey)), name: room.name,
            needsPIN: room.announcement.needsPIN, song: room.announcement.song)
    }

    /// Lets the user choose among several rooms of the same name by number. Throws without a terminal.
    private func choose(among rooms: [NearbyRoom], _ finder: RoomFinder) throws -> Found {
        Terminal.live("")
        let name = rooms[0].name
        guard keys != nil else {
            let list = rooms.map { "\($0.hostName) (key \($0.id.hostKey), \($0.endpoints[0]))" }.joined(separator: ", ")
            throw Failure(
                "\(rooms.count) rooms are called '\(name)': \(list). Join by address or join code.",
                status: Failure.usage)
        }
        Terminal.say("\(rooms.count) rooms are called '\(name)'. Press a number to join one, q to quit.")
        return try pick { finder.matches(in: $0) }
    }

    /// Resolves the name as a machine's, since no room has this name.
    private func look(up name: PeerName, seen: [String], _ reason: DiscoveryError?) throws -> Found {
        Terminal.live("")
        if case .host(let host, let port)? = JoinTarget.place(name.text),
            let addresses = try? SocketAddress.resolve(host, port: port)
        {
            Terminal.say("No room is called '\(name)'. Connecting to the machine of this name.")
            return Found(endpoint: Endpoint(addresses: addresses, key: .any), name: host, needsPIN: false)
        }
        if let reason {
            throw Failure("Cannot search for '\(name)': \(ErrorText.text(reason))", status: Failure.unavailable)
        }
        let near = nearestNames(name.text, in: seen)
        let hint =
            near.isEmpty
            ? "List rooms: earshot join --list"
            : "Did you mean \(near.map { "'\($0)'" }.joined(separator: " or "))?"
        throw Failure(
            "Found no room called '\(name)' within \(Int(timeout.rounded(.up))) s. \(hint)", status: Failure.noHost)
    }

    // MARK: By the list

    /// Shows rooms as they appear and disappear, until one is chosen.
    func pick(_ filter: ([NearbyRoom]) -> [NearbyRoom] = { $0 }) throws -> Found {
        guard let found = try pick(offersNew: false, filter) else { throw ExitCodes.cancelled }
        return found
    }

    /// Shows rooms like ``pick(_:)``. Returns nil if the user wants a new room, which `offersNew` allows.
    func pick(offersNew: Bool, _ filter: ([NearbyRoom]) -> [NearbyRoom] = { $0 }) throws -> Found? {
        guard let keys else {
            throw Failure(
                "No room given. List rooms: earshot join --list",
                status: Failure.usage)
        }
        let browser = RoomBrowser()
        defer { browser.stop() }
        var numbers = RoomNumbers()
        var typedNumber = 0
        var hasWarned = false
        let start = HostTime.now()
        while true {
            if Interrupt.isRequested { throw ExitCodes.interrupted }
            let snapshot = browser.snapshot
            if case .unavailable(let reason) = snapshot.state, numbers.rooms.isEmpty, !hasWarned {
                let words = "\(ErrorText.text(reason)) (or join by address or code: earshot \(command) ADDRESS)"
                Terminal.live("")
                guard offersNew else { throw Failure(words, status: Failure.unavailable) }
                // A new room needs no discovery.
                hasWarned = true
                Terminal.warn(words)
            }
            let elapsed = HostTime.now().seconds(since: start)
            if isLimited, numbers.rooms.isEmpty, elapsed > timeout {
                Terminal.live("")
                throw Failure(
                    "Found no room within \(Int(timeout.rounded(.up))) s. "
                        + "Join by address or code: earshot \(command) ADDRESS",
                    status: Failure.noHost)
            }
            for change in numbers.take(filter(snapshot.rooms)) { Terminal.say(Self.line(change)) }
            let count = numbers.rooms.count
            let search = hasWarned ? "No rooms can be found" : "Searching for rooms"
            let state = count == 0 ? search : count == 1 ? "1 room" : "\(count) rooms"
            let new = offersNew ? "n new, " : ""
            StatusLine.live("\(state). Keys: number join, \(new)q quit\(typedNumber > 0 ? ": \(typedNumber)" : "")")
            switch keys.next(within: 0.05) {
            case .character("q"), .character("Q"):
                Terminal.live("")
                throw ExitCodes.cancelled
            case .character("n") where offersNew, .character("N") where offersNew:
                Terminal.live("")
                return nil
            case .escape, .backspace: typedNumber = 0
            case .enter: if let room = numbers.rooms[typedNumber] { return try found(room) }
            case .character(let digit):
                guard digit.isASCII, let value = digit.wholeNumberValue, typedNumber < 1_000 else { continue }
                typedNumber = typedNumber * 10 + value
                guard !numbers.isAmbiguous(typedNumber) else { continue }
                if let room = numbers.rooms[typedNumber] { return try found(room) }
                Terminal.say("There is no room \(typedNumber).")
                typedNumber = 0
            default: break
            }
        }
    }

    private static func line(_ change: RoomNumbers.Change) -> String {
        switch change {
        case .came(let number, let room): "\(number)  \(room.summary)"
        case .went(let number, let room): "\(number)  \(room.name): closed"
        case .changed(let number, let room): "\(number)  \(room.summary)"
        }
    }

    // MARK: List only

    /// Searches for a number of seconds. Returns the rooms that are visible at the end.
    static func list(within seconds: Double) throws -> [NearbyRoom] {
        let browser = RoomBrowser()
        defer { browser.stop() }
        let began = HostTime.now()
        while HostTime.now().seconds(since: began) < seconds {
            if Interrupt.isRequested { throw ExitCodes.interrupted }
            Thread.sleep(forTimeInterval: 0.02)
        }
        let snapshot = browser.snapshot
        if case .unavailable(let reason) = snapshot.state { throw Failure(reason) }
        return snapshot.rooms
    }
}
