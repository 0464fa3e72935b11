import ArgumentParser
import AudioBase
import Foundation
import Nearby
import Rooms

struct ChatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat", abstract: "Write to those in a room, without sound.",
        discussion: """
            Each line of standard input goes to everybody in the room; what others write is printed. It is one more member of
            a room that 'earshot host' holds, or with --host it opens one. A line that begins with / is a command: /help.
            """)

    @Argument(help: "The room: as for join; with --host its name.")
    var room: String?

    @Flag(help: "Open the room, rather than enter one.")
    var host = false

    @Option(
        help: ArgumentHelp(
            "With --host, whom to let in: all, known, ask. Default: ask on a terminal, else known.", valueName: "whom"))
    var accept: AdmissionPolicy?

    @Option(help: ArgumentHelp("With --host, the port to listen on, TCP and UDP. Default: 47400.", valueName: "port"))
    var port: UInt16?

    @Flag(help: "With --host, do not announce the room: guests need the address or the join code.")
    var noAnnounce = false

    @Flag(help: "Stay when standard input has ended.")
    var stay = false

    @Option(
        help: ArgumentHelp("Take files that others send, into this folder.", valueName: "folder"),
        completion: .directory)
    var receive: String?

    @OptionGroup var entrance: EntranceOptions
    @OptionGroup var own: RoomOptions

    func validate() throws {
        if let room {
            if host {
                try RoomOptions.check { try PeerName(room) }
            } else {
                try RoomOptions.check { try JoinTarget(room, as: entrance.by) }
            }
        }
        if !host, accept != nil || port != nil || noAnnounce {
            throw ValidationError("--accept, --port and --no-announce belong to --host")
        }
        if port == 0 { throw ValidationError("--port takes 1 to 65535") }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            try RoomArrivals.check(receive)
            let console =
                host
                ? try open()
                : try entrance.enter(
                    room, own, receivingInto: receive, printsMessages: true, policy: Self.usualPolicy)
            console.staysAlone = true
            let chat = Chat(console, stays: stay)
            defer { waiting { [session = console.session] in await session.close() } }
            try chat.run()
        }
    }

    private static var usualPolicy: AdmissionPolicy { isatty(STDIN_FILENO) == 1 ? .ask : .known }

    private func open() throws -> RoomConsole {
        let pin = try own.readPIN(nil)
        var configuration = NearbySession.Configuration(name: own.ownName, store: own.store)
        configuration.port = port ?? JoinCode.usualPort
        let nearby = try NearbySession.opened(configuration)
        let policy = accept ?? Self.usualPolicy
        let console = RoomConsole(nearby, keys: nil, policy: policy)
        console.receive(into: receive, printsMessages: true)
        let name = try room.map { try PeerName($0) } ?? own.ownName
        let isAdvertised = !noAnnounce
        try waiting { try await nearby.host(name, policy: policy, pin: pin, isAdvertised: isAdvertised) }
        let lines = RoomIntroduction.lines(
            of: name, nearby, own: own.ownName, policy, hasPIN: pin != nil, command: "chat")
        Terminal.say(lines.joined(separator: "\n"))
        if policy == .ask, isatty(STDIN_FILENO) != 1 {
            Terminal.warn(
                "there is no terminal to answer on: nobody is let in but by /y on standard input; or use --accept known or all"
            )
        }
        return console
    }
}

/// Files that are under way.
private final class Count: Sendable {
    private let count = Guarded(0)

    var value: Int { count.withLock { $0 } }
    func add(_ change: Int) { count.withLock { $0 += change } }
}

/// Lines both ways.
private final class Chat {
    private let console: RoomConsole
    private let stays: Bool
    private let lines = StandardLines()
    private var outboxes: [MemberID: ChatOutbox] = [:]
    private let unsentFiles = Count()

    init(_ console: RoomConsole, stays: Bool) {
        self.console = console
        self.stays = stays
    }

    func run() throws {
        var hasEnded = false
        while true {
            if Interrupt.isRequested { throw ExitCodes.interrupted }
            console.take()
            if let ending = console.ending {
                guard ending == .closed else { throw Failure(ending) }
                return Terminal.say("\(ending)")
            }
            if outboxes.values.contains(where: { $0.isFull() }) {
                usleep(20_000)
                continue
            }
            switch lines.next(within: 0.05) {
            case .line(let line): if !take(line) { return }
            case .nothing: break
            case .end: hasEnded = true
            }
            if hasEnded, !stays, unsentFiles.value == 0, outboxes.values.allSatisfy(\.isEmpty) {
                console.take()
                if console.isHost { Terminal.say("standard input has ended, and so this chat; --stay keeps it open") }
                return
            }
        }
    }

    /// - Returns: whether it goes on.
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
            let names = console.others.map { "\($0.name)\($0.isAway ? " (out of reach)" : "")" }
            Terminal.say(names.isEmpty ? "nobody else is here" : (names + ["you"]).joined(separator: ", "))
        case "y", "n", "b": console.answer(words[0], words.count > 1 ? words[1] : nil)
        case "send" where words.count > 1: sendFile(words[1])
        default:
            if let word = words.first, word != "help" { Terminal.say("/\(word) is not understood; there are:") }
            Terminal.say(
                """
                /who          who is here        /send FILE   sends a file to all
                /y /n /b [NAME or NUMBER]  lets in, declines, blocks who asks
                /quit         leaves             //           a line that begins with one /
                """)
        }
        return true
    }

    private func send(_ text: String) {
        let others = console.others.filter(\.isNative)
        guard !others.isEmpty else { return Terminal.warn("nobody else is here: nobody read that") }
        guard text.utf8.count <= 65_536 else {
            return Terminal.warn("a line of more than 65,536 bytes; send it as a file")
        }
        for member in others { outbox(to: member).put(text) }
    }

    private func outbox(to member: Member) -> ChatOutbox {
        if let outbox = outboxes[member.id] { return outbox }
        let session = console.session
        let outbox = ChatOutbox { line in
            do throws(TransferFailure) {
                try await session.send(Array(line.utf8), to: [member.id])
                return nil
            } catch {
                return error.reasons[member.id].map { "\($0)" } ?? "\(error)"
            }
        } complain: { count, reason in
            let name = await session.roster?[member.id]?.name ?? member.name
            Terminal.warn("\(name) did not get \(count == 1 ? "a line" : "\(count) lines"): \(reason)")
        }
        outboxes[member.id] = outbox
        return outbox
    }

    private func sendFile(_ path: String) {
        let (session, members) = (console.session, console.others.filter(\.isNative))
        guard !members.isEmpty else { return Terminal.warn("nobody else is here to send to") }
        unsentFiles.add(1)
        Task { [unsentFiles] in
            do {
                let file = try await session.sendFile(at: path, to: members.map(\.id))
                try await file.finished()
                Terminal.say("\(file.name) is sent")
            } catch let error as TransferFailure {
                for (id, reason) in error.reasons {
                    Terminal.warn("\(members.first { $0.id == id }?.name.text ?? "somebody"): \(reason)")
                }
            } catch {
                Terminal.warn("\(error)")
            }
            unsentFiles.add(-1)
        }
    }
}

/// Standard input, line by line, without waiting for longer than one wants.
private final class StandardLines {
    enum Item {
        case line(String)
        case nothing
        case end
    }

    private var bytes: [UInt8] = []
    private var hasEnded = false
    /// A line without an end is one at this length.
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
