// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotLiveCall
import EarshotNearby
import EarshotRooms
import Foundation

struct ChatCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat", abstract: "Exchange text messages in a room.",
        discussion: """
            Sends each line of standard input to everyone in the room and prints what others write. A line that begins with / is a command: /help.
            """)

    static let examples = [
        CommandExample("Chat in a room", "earshot chat 'Blue Room'"),
        CommandExample("Open a room for messages only", "earshot chat --host 'Blue Room'"),
    ]

    @Argument(help: "Room to join, as for 'earshot join'; with --host, its name.")
    var room: String?

    @Flag(help: "Open a room instead of joining one.")
    var host = false

    @Option(
        help: ArgumentHelp(
            "With --host: admit all guests, only known ones, or ask for each. [default: ask on a terminal, otherwise known]",
            valueName: "policy"))
    var accept: AdmissionPolicy?

    @Option(
        help: ArgumentHelp("With --host: port to listen on, TCP and UDP. [default: 47400]", valueName: "port"),
        transform: PortArgument.number)
    var port: UInt16?

    @Flag(help: "With --host: do not announce the room. Guests need its address or join code.")
    var noAnnounce = false

    @Flag(help: "Stay after the end of standard input.")
    var stay = false

    @Option(
        help: ArgumentHelp("Save received files to this existing folder.", valueName: "folder"),
        completion: .directory)
    var receive: String?

    @OptionGroup var entrance: JoinOptions
    @OptionGroup var own: RoomOptions

    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws {
        if let room {
            if host {
                try RoomOptions.check { try PeerName(room) }
            } else {
                try RoomOptions.check { try JoinTarget(room, as: entrance.by) }
            }
        }
        if !host, accept != nil || port != nil || noAnnounce {
            throw ValidationError("--accept, --port and --no-announce need --host")
        }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            try CallOptions.checkFolder(receive)
            let presenter =
                host
                ? try open()
                : try entrance.enter(
                    room, own, configuration(Self.usualPolicy), answers: Self.answers, isChat: true)
            defer {
                waiting { [call = presenter.call] in await call.close() }
                presenter.present()
            }
            try Chat(presenter, stays: stay).run()
        }
    }

    private static var isAtTerminal: Bool { isatty(STDIN_FILENO) == 1 }
    private static var usualPolicy: AdmissionPolicy { isAtTerminal ? .ask : .known }
    private static var answers: RoomPresenter.Answers { isAtTerminal ? .lines : .none }

    private func configuration(_ policy: AdmissionPolicy) -> LiveCall.Configuration {
        var configuration = LiveCall.Configuration()
        configuration.admission = policy
        configuration.staysAlone = true
        configuration.receivedFilesFolder = receive
        return configuration
    }

    private func open() throws -> RoomPresenter {
        let pin = try own.readPIN(nil)
        var session = NearbySession.Configuration(name: own.ownName, store: own.store)
        session.port = port ?? JoinCode.usualPort
        let policy = accept ?? Self.usualPolicy
        let call = try LiveCall(configuration(policy), room: try NearbySession.opened(session))
        let presenter = RoomPresenter(call, answers: Self.answers, staysAlone: true, printsMessages: true)
        var opening = RoomOpening(name: try room.map { try PeerName($0) } ?? DefaultName.room(of: own.name))
        (opening.pin, opening.isAnnounced) = (pin, !noAnnounce)
        do {
            try presenter.open(opening)
        } catch {
            waiting { await call.close() }
            throw error
        }
        let lines = RoomIntroduction.lines(
            of: opening.name, call, own: own.ownName, hasPIN: pin != nil, command: "chat")
        Terminal.say(lines.joined(separator: "\n"))
        if policy == .ask, !Self.isAtTerminal {
            Terminal.warn(
                "No terminal to confirm guests on. Admit them by /y on standard input, or use --accept known or --accept all."
            )
        }
        return presenter
    }
}

/// Runs a chat: sends the lines of standard input and prints the messages that arrive.
private final class Chat {
    private let presenter: RoomPresenter
    private let input: RoomInput
    private let staysAfterInputEnds: Bool
    private let lines = StandardLines()
    /// A line to send again soon, since too many messages are still being sent; nil for none.
    private var waitingLine: String?

    private var call: LiveCall { presenter.call }

    init(_ presenter: RoomPresenter, stays: Bool) {
        self.presenter = presenter
        staysAfterInputEnds = stays
        input = RoomInput(presenter.call, keys: nil)
    }

    func run() throws {
        var hasEnded = false
        var isLeaving = false  // once all is sent
        while true {
            if Interrupt.isRequested { throw ExitCodes.interrupted }
            presenter.present()
            let snapshot = call.snapshot
            if let ending = snapshot.ending {
                guard ending == .room(.closed) else { throw Failure(ending) }
                return Terminal.say("\(RoomEnding.closed)")
            }
            if let line = waitingLine {
                usleep(20_000)
                send(line)
                continue
            }
            if !isLeaving {
                switch lines.next(within: 0.05) {
                case .line(let line): isLeaving = !take(line)
                case .nothing: break
                case .end: hasEnded = true
                }
            }
            if isLeaving {
                if isAllSent { return presenter.present() }
                usleep(20_000)
                continue
            }
            if hasEnded, !staysAfterInputEnds, waitingLine == nil, isAllSent {
                presenter.present()
                if call.snapshot.isHost {
                    Terminal.say("Standard input ended, so the chat is closed. To stay open: --stay")
                }
                return
            }
        }
    }

    private var isAllSent: Bool {
        let snapshot = call.snapshot
        return snapshot.unsentMessageCount == 0 && !snapshot.transfers.contains { $0.state == .sending }
    }

    /// Sends a line, or executes a line that begins with one slash as a command.
    /// - Returns: false if the user wants to leave.
    private func take(_ line: String) -> Bool {
        guard !line.allSatisfy(\.isWhitespace) else { return true }
        guard line.hasPrefix("/"), !line.hasPrefix("//") else {
            send(line.hasPrefix("//") ? String(line.dropFirst()) : line)
            return true
        }
        let words = line.dropFirst().split(separator: " ", maxSplits: 1).map(String.init)
        switch words.first {
        case "quit", "q": return false
        case "who":
            let names = call.snapshot.participants.map { "\($0.name)\($0.isAway ? " (away)" : "")" }
            Terminal.say(names.isEmpty ? "Nobody else is here." : (names + ["you"]).joined(separator: ", "))
        case "y", "n", "b": input.answer(words[0], words.count > 1 ? words[1] : nil)
        case "send" where words.count > 1: sendFile(words[1])
        case "send": Terminal.say("Name a file: /send FILE")
        default:
            if let word = words.first, word != "help" { Terminal.say("Unknown command /\(word). Commands:") }
            Terminal.say(
                """
                /who                       list participants
                /send FILE                 send a file to all
                /y, /n, /b [NAME, NUMBER]  admit, decline or block a guest who asks
                /quit                      leave
                //TEXT                     send a line that begins with /
                """)
        }
        return true
    }

    private func send(_ text: String) {
        waitingLine = nil
        do throws(CommandRefusal) {
            try call.perform(.say(text))
        } catch {
            switch error {
            case .messagesWaiting: waitingLine = text
            case .messageTooLong: Terminal.warn("The line exceeds 65,536 bytes. Send it as a file.")
            default: Terminal.warn("Nobody else is here to read this.")
            }
        }
    }

    private func sendFile(_ path: String) {
        do throws(CommandRefusal) {
            try call.perform(.sendFile(path: path))
        } catch {
            Terminal.warn("Nobody else is here to receive the file.")
        }
    }
}

/// Reads lines from standard input with a timeout.
private final class StandardLines {
    enum Item {
        case line(String)
        case nothing
        case end
    }

    private var bytes: [UInt8] = []
    private var hasEnded = false
    /// The maximum length of a line in bytes. A longer line is divided.
    private static let limit = 65_536

    func next(within seconds: Double) -> Item {
        if let end = bytes.firstIndex(of: 10) { return take(upTo: end, skipping: 1) }
        if bytes.count >= Self.limit { return take(upTo: Self.limit, skipping: 0) }
        if hasEnded {
            if !bytes.isEmpty { return take(upTo: bytes.count, skipping: 0) }
            usleep(UInt32(seconds * 1e6))
            return .end
        }
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, Int32(seconds * 1e3)) > 0 else { return .nothing }
        var piece = [UInt8](repeating: 0, count: 4_096)
        let count = read(STDIN_FILENO, &piece, piece.count)
        if count > 0 { bytes += piece[..<count] } else if count == 0 || errno != EINTR { hasEnded = true }
        return .nothing
    }

    private func take(upTo end: Int, skipping: Int) -> Item {
        let line = String(decoding: bytes[..<end], as: UTF8.self)
        bytes.removeFirst(end + skipping)
        return .line(line.hasSuffix("\r") ? String(line.dropLast()) : line)
    }
}
