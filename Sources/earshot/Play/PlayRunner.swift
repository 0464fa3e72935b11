// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioQueues
import EarshotAudioSession
import Foundation

/// Plays from the first block to the report.
final class PlayRunner {
    /// The player's events that were not handled yet.
    private final class News: Sendable {
        let events = LockedValue<[AudioPlayerEvent]>([])
    }

    private let command: PlayCommand
    private let sources: PlaySources
    private let seed: UInt64?
    private let keys: KeyboardInput?
    private let card: PlayCard
    private let queue: PlayQueue
    private let player: AudioPlayer
    private let news = News()
    private var title = ""
    private var isPaused = false
    private var hasFinished = false
    private var wantsEnd = false
    private var status = StatusLine(refresh: 0.1)

    /// - Parameter keys: the terminal's keys; nil to read them from a terminal if there is one.
    init(_ command: PlayCommand, keys: KeyboardInput? = nil) throws {
        self.command = command
        sources = try PlaySources(command.files)
        // Files are checked before the sound system is opened, which is needless if no file can be played.
        let refusals = sources.refusals
        let failures = sources.failures + refusals
        for failure in failures { Terminal.error(failure.line) }
        if sources.entries.count == refusals.count, let failure = failures.first { throw ExitCodes.failed(failure) }
        seed = command.shuffle ? command.seed ?? UInt64.random(in: 0...0xFFFF_FFFF) : nil
        let terminal = { KeyboardInput() ?? KeyboardInput(open("/dev/tty", O_RDWR | O_CLOEXEC)) }
        self.keys = keys ?? (Terminal.isInteractive ? terminal() : nil)
        card = try PlayCard(command, hasKeys: self.keys != nil)
        player = card.player
        queue = PlayQueue(sources, command, seed: seed, player: player)
    }

    func run() throws {
        let began = HostTime.now()
        let listeners = listen()
        let ending: EndReason
        do {
            ending = try play(since: began)
        } catch {
            for listener in listeners { listener.cancel() }
            card.close()
            throw error
        }
        for listener in listeners { listener.cancel() }
        Terminal.live("")
        takeEvents()
        queue.account()
        let device = card.report  // before close(): a stopped device has no real-time priority
        let seconds = HostTime.now().seconds(since: began)
        if case .finished = ending { card.drain() }
        card.close()
        try notify(report(ending, seconds: seconds, device: device), ending)
    }

    private func play(since began: HostTime) throws -> EndReason {
        guard queue.fill() || queue.isWaiting else { return .finished }
        try card.start()
        Terminal.say(card.summary)
        if let warning = card.warning { Terminal.warn(warning) }
        if !card.effects.isEmpty {
            Terminal.say("Effects: \(card.effects.map(\.unit.name).joined(separator: ", "))")
        }
        if let seed { Terminal.say("Shuffled with --seed \(seed)") }
        if keys != nil { Terminal.say(PlayKeys.hint) }
        if command.start > 0 { seek(to: command.start) }
        try player.play()
        return watch(since: began)
    }

    private func listen() -> [Task<Void, Never>] {
        [
            Task { [stream = player.events, news] in
                for await event in stream { news.events.withLock { $0.append(event) } }
            },
            card.session.presentEvents(),
        ]
    }

    private func watch(since began: HostTime) -> EndReason {
        while true {
            while let key = keys?.next(within: 0.02) {
                if !act(PlayKeys.action(key)) { return .quit }
            }
            if keys == nil { Thread.sleep(forTimeInterval: 0.05) }
            card.watchdog.gather()
            takeEvents()
            queue.fill()
            if hasFinished, !player.isPlaying, !isPaused, let item = queue.retriedItem {
                attempt {
                    try player.skip(toItem: item)
                    try player.play()
                }
            }
            if let index = queue.begin() { announce(index) }
            let now = HostTime.now()
            if let ending = ending(now: now, began: began) { return ending }
            show(now.seconds(since: began))
        }
    }

    private func takeEvents() {
        let newEvents = news.events.withLock { events in
            defer { events = [] }
            return events
        }
        for event in newEvents {
            queue.take(event)
            switch event {
            case .title(let item, let words) where item == player.currentItem:
                title = TerminalText.sanitizedLine(words)
                Terminal.say("Title: \(title)")
            case .stream(let item, let state) where item == player.currentItem:
                switch state {
                case .reconnecting(let attempt, let seconds):
                    Terminal.say(
                        "Connection failed. Retrying in \(String(format: "%.1f", seconds)) s (attempt \(attempt))."
                    )
                case .buffering: Terminal.say("Waiting for audio.")
                default: break
                }
            case .seekRefused(_, let error): Terminal.warn(Failure(error).line)
            case .leftOut(let item, let frames) where item == player.currentItem:
                let seconds = String(format: "%.1f", Double(frames) / player.format.sampleRate)
                Terminal.say("Live again. Skipped \(seconds) s of the pause.")
            case .finished: hasFinished = true
            case .started: hasFinished = false
            default: break
            }
        }
    }

    private func announce(_ index: Int) {
        let entry = queue.entries[index]
        title = ""
        var line = "playing: \(TerminalText.sanitizedLine(queue.items[index].name))"
        if case .file(let path) = entry.kind {
            let playTitle = PlayTitle(path: path, name: entry.name == path ? nil : entry.name)
            title = playTitle.text
            line += playTitle.details
        }
        Terminal.say(line)
        status.restart()
    }

    private func ending(now: HostTime, began: HostTime) -> EndReason? {
        if Interrupt.isRequested { return .interrupted }
        if let seconds = command.duration, now.seconds(since: began) >= seconds { return .duration }
        if let failure = card.session.interruptionFailure(at: now) { return .failed(failure) }
        let isOver = hasFinished && !player.isPlaying && !isPaused && !queue.isWaiting
        return wantsEnd || isOver ? .finished : nil
    }

    // MARK: Keys

    /// Executes the action of a key.
    /// - Returns: false if the user quits.
    private func act(_ action: PlayKeys.Action?) -> Bool {
        switch action {
        case .quit: return false
        case .pause: pause()
        case .seek(let seconds): seek(to: player.currentTime + seconds)
        case .skip(let count): skip(count)
        case .volume(let decibels): card.volume = min(18, max(-60, card.volume + decibels))
        case .help: Terminal.say(PlayKeys.help)
        case .status: status.ask()
        case nil: break
        }
        status.ask()
        return true
    }

    private func pause() {
        if card.session.isPaused {
            card.session.resume()
            isPaused = true
        }
        isPaused.toggle()
        if isPaused { player.pause() } else { attempt { try player.play() } }
    }

    private func seek(to seconds: Double) {
        let frame = max(0, seconds) * player.format.sampleRate
        attempt { try player.seek(to: Int(min(frame, 1e15))) }
    }

    private func skip(_ count: Int) {
        queue.fill()
        let item = player.currentItem
        // More than 3 s into an item, back goes to the item's beginning.
        let isBegun = count < 0 && player.currentTime > 3
        let goal = isBegun ? item : queue.item(count, from: item)
        if goal < 0 {
            attempt { try player.seek(to: 0) }
        } else if goal < player.itemCount {
            attempt { try player.skip(toItem: goal) }
        } else if command.loop {
            attempt { try player.seek(to: 0) }
        } else {
            wantsEnd = true
        }
    }

    /// Does the work. An error is printed as a warning, and playback continues.
    private func attempt(_ work: () throws -> Void) {
        do { try work() } catch { Terminal.warn(Failure(error).line) }
    }

    // MARK: Text

    private func show(_ elapsed: Double) {
        guard status.isDue(at: elapsed) else { return }
        var line = PlayLine(
            isPaused: isPaused || card.session.isPaused, time: player.currentTime, duration: player.duration,
            title: title, peak: card.peak(), volume: card.volume, rate: player.rate,
            state: player.stream(ofItem: player.currentItem)?.state)
        if queue.entries.count > 1, let index = queue.entry(ofItem: player.currentItem) {
            line.place = "\(index + 1)/\(queue.entries.count) "
        }
        StatusLine.show(
            plain: line.plain, live: line.text(width: PlayLine.terminalWidth, hasColour: Terminal.hasColour))
    }

    private func report(_ ending: EndReason, seconds: Double, device: CallReport.Device) -> PlayReport {
        PlayReport(
            device: device, effects: card.effects.map(\.unit.name), items: queue.items,
            failures: sources.failures.map(\.line), seconds: seconds, ended: ending.text(), volumeDb: card.volume,
            rate: player.rate, seed: seed, routeChanges: card.session.routeChanges,
            interruptions: card.session.interruptions, routeLostFrames: card.session.lostFrameCount,
            callback: CallReport.Callback(card.watchdog.snapshot))
    }

    private func notify(_ report: PlayReport, _ ending: EndReason) throws {
        try report.notify(ending, asJSON: command.json)
        try ending.throwUnlessSuccessful()
        // The failure was reported when it happened.
        if let failure = queue.failure { throw ExitCodes.failed(failure) }
    }
}
