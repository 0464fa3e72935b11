// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotLiveCall
import EarshotPlayout
import EarshotRooms
import Foundation

/// Stays in a room as a silent guest, and measures the links from the participants.
final class ForecastRunner {
    private let presenter: RoomPresenter
    private let seconds: Double
    private let dials: [LatencyProfile]
    /// The room as the user typed it; the room's name if the user chose from a list.
    private let room: String
    private let keys: KeyboardInput?
    private var hasQuit = false
    private var latest: [MemberID: (participant: Participant, statistics: CallStatistics)] = [:]
    private let began = HostTime.now()
    /// The time at which the first sound arrived; nil before.
    private var firstSoundTime: HostTime?
    private var lastShownSecond = -1
    /// The seconds within which the first sound must arrive.
    private static let firstSoundLimit = 10.0

    private var call: LiveCall { presenter.call }

    init(_ presenter: RoomPresenter, seconds: Double, dials: [LatencyProfile], room: String, keys: KeyboardInput?) {
        self.presenter = presenter
        self.keys = keys
        (self.seconds, self.dials, self.room) = (seconds, dials, room)
    }

    /// Measures until the requested duration has passed, the call has ended, or the user quits.
    func run() throws -> ForecastReport {
        defer { leave() }
        while try !isDone() {
            handleKeys()
            presenter.present()
            look()
            show()
        }
        Terminal.live("")
        let report = ForecastReport(
            call.snapshot.room?.name.text ?? room, asked: room,
            seconds: firstSoundTime.map { HostTime.now().seconds(since: $0) } ?? 0,
            latest.sorted { $0.key < $1.key }.map(\.value),
            dials: dials)
        guard report.peers.isEmpty else { return report }
        if Interrupt.isRequested { throw ExitCodes.interrupted }
        if hasQuit { throw ExitCodes.cancelled }
        throw Failure("everyone left before the measurement was complete. Join again.", status: Failure.lost)
    }

    private func handleKeys() {
        guard let keys else { return Thread.sleep(forTimeInterval: 0.05) }
        switch keys.next(within: 0.05).flatMap(CommonKeys.action) {
        case .quit: hasQuit = true
        case .help: Terminal.say(CommonKeys.help)
        case .status: lastShownSecond = -1
        case nil: break
        }
    }

    private func look() {
        let levels = call.levels
        for participant in call.snapshot.participants {
            guard let statistics = levels.participants[participant.id], statistics.playout.isStarted else { continue }
            firstSoundTime = firstSoundTime ?? .now()
            latest[participant.id] = (participant, statistics)
        }
    }

    private func isDone() throws -> Bool {
        if Interrupt.isRequested || hasQuit { return true }
        let snapshot = call.snapshot
        if case .codec(let error)? = snapshot.ending { throw Failure(error) }
        let now = HostTime.now()
        guard let firstSoundTime else {
            switch snapshot.ending {
            case .alone, .lastParticipantLost: return true
            case let ending?: throw Failure(ending)
            case nil: break
            }
            guard now.seconds(since: began) > Self.firstSoundLimit else { return false }
            let names = snapshot.participants.map(\.name.text).joined(separator: ", ")
            throw Failure(
                "no sound came from \(names) within \(Int(Self.firstSoundLimit)) s: a forecast needs a participant who joined by "
                    + "'earshot host' or 'earshot join', and UDP between you",
                status: Failure.unavailable)
        }
        if snapshot.ending != nil { return true }
        let elapsed = now.seconds(since: firstSoundTime)
        // The observed seconds may lag behind the elapsed seconds, so the measurement ends up to 2 s late.
        let observedSeconds = latest.values.map(\.statistics.forecast.observedSeconds).max() ?? 0
        return observedSeconds >= seconds - 0.05 || elapsed >= seconds + 2
    }

    private func show() {
        guard let firstSoundTime else { return StatusLine.live("waiting for sound") }
        let elapsed = min(Int(seconds), Int(HostTime.now().seconds(since: firstSoundTime)))
        guard elapsed > lastShownSecond else { return }
        lastShownSecond = elapsed
        if Terminal.isInteractive {
            let count = latest.values.map(\.statistics.playout.packets).reduce(0, +)
            StatusLine.live("measuring, \(elapsed) of \(Int(seconds)) s, \(count) packets; q quits")
        } else if elapsed % 10 == 0, elapsed < Int(seconds) {
            Terminal.say("measuring, \(elapsed) of \(Int(seconds)) s")
        }
    }

    private func leave() {
        Terminal.live("")
        waiting { [call] in await call.close() }
    }
}
