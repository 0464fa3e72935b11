// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioBase
import EarshotLiveCall
import EarshotNearby
import EarshotRooms
import Foundation

struct SendCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send files to the participants of a room.",
        discussion: """
            Files go to each participant directly, encrypted and verified by their hash. An interrupted transfer resumes when the command is repeated. Participants receive files with --receive FOLDER.
            """)

    static let examples = [
        CommandExample("Send two files to a room", "earshot send take.flac notes.txt --room 'Blue Room'"),
        CommandExample("Send to one participant", "earshot send take.flac --room 192.168.1.20 --only Bob"),
    ]

    @Argument(help: "Files to send.", completion: .file())
    var files: [String]

    @Option(help: ArgumentHelp("Room to join, as for 'earshot join'. [default: choose from a list]", valueName: "room"))
    var room: String?

    @Option(help: ArgumentHelp("Send only to the participant with this name. Repeat for several.", valueName: "name"))
    var only: [String] = []

    @OptionGroup var entrance: JoinOptions
    @OptionGroup var own: RoomOptions

    @Flag(name: .lettered("json"), help: "Print a JSON report on standard output at the end.")
    var json = false

    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws {
        if let room { try RoomOptions.check { try JoinTarget(room, as: entrance.by) } }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            for path in files { try Self.checkFile(path) }
            var configuration = LiveCall.Configuration()
            (configuration.admission, configuration.staysAlone) = (.known, true)
            let presenter = try entrance.enter(room, own, configuration, answers: .none, isChat: false)
            let call = presenter.call
            defer { waiting { await call.close() } }
            let receivers = try receivers(call.snapshot)
            var report = Report(room: call.snapshot.room?.name.text ?? "", files: [])
            for path in files { report.files.append(try send(path, to: receivers, presenter)) }
            if json {
                try Terminal.output(report.json())
            }
            if report.files.contains(where: { $0.members.contains { $0.error != nil } }) {
                throw ExitCodes.failed(Failure("Not everything was sent.", status: Failure.lost))
            }
        }
    }

    /// - Throws: a ``Failure`` unless the path is one of a file.
    static func checkFile(_ path: String) throws(Failure) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw Failure(
                errno == ENOENT
                    ? "\(path): no such file. Check the name." : "\(path): \(String(cString: strerror(errno)))",
                status: Failure.noInput)
        }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw Failure("\(path) is a folder. Name the files in it.", status: Failure.noInput)
        }
    }

    /// The latest progress of a file, and at the end the participants who did not get it, with reasons.
    private final class Sending: Sendable {
        let latest = LockedValue<[FileProgress]>([])
        let reasons = LockedValue<[MemberID: TransferError]?>(nil)
    }

    private struct Report: Encodable {
        struct File: Encodable {
            var file: String
            var bytes: Int64
            var seconds: Double
            var members: [Receiver]
        }

        struct Receiver: Encodable {
            var name: String
            /// The reason that the participant did not get the file; nil if the participant has it.
            var error: String?
        }

        var room: String
        var files: [File]
    }

    private func receivers(_ snapshot: LiveCallSnapshot) throws -> [Participant] {
        let others = snapshot.participants.filter { $0.isNative && !$0.isAway }
        let chosen = only.isEmpty ? others : others.filter { only.contains($0.name.text) }
        for name in only where !chosen.contains(where: { $0.name.text == name }) {
            let names = others.map { "'\($0.name)'" }.joined(separator: ", ")
            throw Failure("No participant is called '\(name)'. Participants: \(names)", status: Failure.noHost)
        }
        guard !chosen.isEmpty else { throw Failure("Nobody in the room can receive it.", status: Failure.noHost) }
        return chosen
    }

    private func send(_ path: String, to members: [Participant], _ presenter: RoomPresenter) throws -> Report.File {
        let call = presenter.call
        let began = ContinuousClock.now
        let file = try waiting { try await call.sendFile(at: path, to: members.map(\.id)) }
        let state = Sending()
        Task { for await progress in file.progress { state.latest.withLock { $0 = progress } } }
        Task {
            do throws(TransferFailure) {
                try await file.finished()
                state.reasons.withLock { $0 = [:] }
            } catch {
                state.reasons.withLock { $0 = error.reasons }
            }
        }
        var lastPrinted = ContinuousClock.now
        while state.reasons.withLock({ $0 == nil }) {
            if Interrupt.isRequested {
                file.cancel()
                throw ExitCodes.interrupted
            }
            presenter.present()
            let line = Self.line(file.name, state.latest.withLock { $0 }, members)
            if Terminal.isInteractive {
                Terminal.live(PlayLine.fit(line, PlayLine.terminalWidth - 1))
            } else if ContinuousClock.now - lastPrinted > .seconds(5) {
                Terminal.say(line)
                lastPrinted = .now
            }
            usleep(50_000)
        }
        Terminal.live("")
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        let reasons = state.reasons.withLock { $0 } ?? [:]
        for member in members {
            if let reason = reasons[member.id] {
                Terminal.warn("\(member.name) does not have \(file.name): \(ErrorText.text(reason))")
            } else {
                let rate = FileFormatting.size(Int(Double(file.size) / max(seconds, 0.001)))
                Terminal.say("\(member.name) has \(file.name) (\(FileFormatting.size(Int(file.size))), \(rate)/s)")
            }
        }
        return Report.File(
            file: path, bytes: file.size, seconds: seconds,
            members: members.map { .init(name: $0.name.text, error: reasons[$0.id]?.description) })
    }

    private static func line(_ name: String, _ progress: [FileProgress], _ members: [Participant]) -> String {
        let parts = progress.map { one in
            let who = members.first { $0.id == one.member }?.name.text ?? ""
            let share = one.size == 0 ? 100 : Int(one.bytes * 100 / one.size)
            switch one.phase {
            case .hashing: return "reading \(share) %"
            case .offered: return "\(who) is asked"
            case .reconnecting: return "\(who) \(share) %, connecting again"
            case .done: return "\(who) has it"
            case .failed: return "\(who) failed"
            case .moving:
                let remainingText = one.remaining.map { ", \(Int(($0 / .seconds(1)).rounded(.up))) s" } ?? ""
                return "\(who) \(share) % \(FileFormatting.size(Int(one.rate)))/s\(remainingText)"
            }
        }
        return "\(name)  \(parts.joined(separator: "  "))"
    }
}
