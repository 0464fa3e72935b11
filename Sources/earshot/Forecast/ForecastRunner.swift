import AudioBase
import Call
import Foundation
import MediaTransport
import Playout
import Rooms

/// In a room as a silent guest, for as long as it takes to know the ways from the others.
final class ForecastRunner {
    private let console: RoomConsole
    private let card: SoundCard
    private let call: CallSession
    private let seconds: Double
    private let dials: [PlayoutDial]
    /// As the person named it.
    private let room: String
    private var latest: [MemberID: (member: Member, statistics: CallStatistics)] = [:]
    private let began = HostTime.now()
    /// When sound first came.
    private var heard: HostTime?
    private var shown = -1
    /// Seconds to wait for the first sound.
    private static let patience = 10.0

    init(
        console: RoomConsole, card: SoundCard, call: CallSession, seconds: Double, dials: [PlayoutDial], room: String
    ) {
        (self.console, self.card, self.call) = (console, card, call)
        (self.seconds, self.dials, self.room) = (seconds, dials, room)
    }

    /// Measures until there is enough, all others have left, or Ctrl-C.
    func run() throws -> ForecastReport {
        defer { leave() }
        try card.prepare()
        try call.start()
        while try !isDone() {
            _ = console.press(within: 0.05)
            console.take()
            look()
            show()
        }
        Terminal.live("")
        let report = ForecastReport(
            console.roster?.name.text ?? room, asked: room,
            seconds: heard.map { HostTime.now().seconds(since: $0) } ?? 0,
            latest.sorted { $0.key < $1.key }.map(\.value),
            dials: dials)
        guard report.peers.isEmpty else { return report }
        if Interrupt.isRequested { throw ExitCodes.interrupted }
        throw Failure("everybody left before there was enough to go by; join again", status: Failure.lost)
    }

    private func look() {
        card.watchdog.gather()
        call.followDevice()
        for member in console.others {
            guard let statistics = call.statistics(of: PeerID(Int(member.id.number))), statistics.playout.isStarted
            else { continue }
            heard = heard ?? .now()
            latest[member.id] = (member, statistics)
        }
    }

    private func isDone() throws -> Bool {
        if Interrupt.isRequested { return true }
        if let error = call.failure { throw Failure(error) }
        let now = HostTime.now()
        guard let heard else {
            if let ending = console.ending { throw Failure(ending) }
            if console.others.isEmpty { return true }
            guard now.seconds(since: began) > Self.patience else { return false }
            let names = console.others.map(\.name.text).joined(separator: ", ")
            throw Failure(
                "no sound came from \(names) within \(Int(Self.patience)) s: a forecast needs somebody who is there by "
                    + "'earshot host' or 'earshot join', and UDP between you",
                status: Failure.unavailable)
        }
        if console.ending != nil || console.others.isEmpty { return true }
        let elapsed = now.seconds(since: heard)
        // What is known is told once a second.
        let known = latest.values.map(\.statistics.forecast.observedSeconds).max() ?? 0
        return known >= seconds - 0.05 || elapsed >= seconds + 2
    }

    private func show() {
        guard let heard else { return Terminal.live("waiting for sound") }
        let elapsed = min(Int(seconds), Int(HostTime.now().seconds(since: heard)))
        guard elapsed > shown else { return }
        shown = elapsed
        if Terminal.isInteractive {
            let count = latest.values.map(\.statistics.playout.packets).reduce(0, +)
            Terminal.live("measuring, \(elapsed) of \(Int(seconds)) s, \(count) packets; Ctrl-C ends it")
        } else if elapsed % 10 == 0, elapsed < Int(seconds) {
            Terminal.say("measuring, \(elapsed) of \(Int(seconds)) s")
        }
    }

    private func leave() {
        Terminal.live("")
        call.stop()
        waiting { [session = console.session] in await session.close() }
        card.close()
    }
}
