// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotLiveCall
import Foundation

/// Runs a call in a terminal: prints the call's state, passes on keys, and prints the report.
final class RoomRunner {
    private let options: CallOptions
    private let isHost: Bool
    private let presenter: RoomPresenter
    private let input: RoomInput
    private let card: SoundCard
    private let startTime = HostTime.now()
    private var status = StatusLine()
    private let duet: DuetPresenter

    private var call: LiveCall { presenter.call }

    init(_ options: CallOptions, isHost: Bool, presenter: RoomPresenter, input: RoomInput, card: SoundCard) {
        self.options = options
        self.isHost = isHost
        self.presenter = presenter
        self.input = input
        self.card = card
        duet = DuetPresenter(presenter.call, options, hasKeys: input.keys != nil)
        input.nextSong = NextSong(options.nextSongs)
    }

    /// Runs the call until it ends or the user leaves, then closes everything and prints the report.
    func run() throws {
        input.status = { [unowned self] in
            let room = statusLine(call.snapshot, elapsed: nil).sentences
            guard let status = call.duetStatus, status.duet.song != nil else { return room }
            return "\(DuetSentences.changed(DuetDocument(status)))\n\(room)"
        }
        input.didPerform = { [unowned self] in
            presenter.note($0)
            refresh()
        }
        input.didSelect = { [unowned self] in
            presenter.noteSelection($0)
            refresh()
        }
        input.didType = { [unowned self] in refresh() }
        if options.recording.record != nil {
            let command = LiveCallCommand.startRecording(folder: options.recording.folder)
            do throws(CommandRefusal) {
                try call.perform(command)
            } catch {
                // The other refusal is that the call has ended, which watch() reports.
                if let sentence = RecordingSentences.refused(error) { Terminal.warn(sentence) }
            }
        }
        if let command = options.accompaniment.command { try? call.perform(command) }  // or the call has ended
        let socket = CallSocketServer.open(for: call)
        let ending = watch()
        duet.finish { [presenter] in presenter.present() }
        Terminal.live("")
        // The description precedes close(), because a stopped device has no real-time priority and no latency.
        let device = card.description
        waiting { [call] in await call.close() }
        duet.finishTakes()
        socket?.close()
        presenter.present()
        if call.snapshot.isSoundFailed { try ending.throwUnlessSuccessful() }
        let report = report(ending, call.snapshot.device ?? device)
        if options.json { try Terminal.output(report.json()) } else { Terminal.say(summary(report, ending)) }
        try ending.throwUnlessSuccessful()
        if case .quit = ending { try offerMix() }
    }

    /// The seconds for which the mix of a recording is offered for playback.
    private static let offerTime = 20.0

    /// Plays the mix of the last take or recording, if the user asks for it by a key.
    private func offerMix() throws {
        let recording = presenter.recording.flatMap { $0.seconds > 0 ? $0.mixPath : nil }
        guard !options.json, let keys = input.keys, let mix = duet.mix ?? recording else { return }
        Terminal.say(
            "Keys: p play the mix, any other key exits. After \(Int(Self.offerTime)) s the program exits by itself.")
        guard let key = keys.wait(seconds: Self.offerTime), [.character("p"), .character("P")].contains(key) else {
            return
        }
        try PlayRunner(options.player(of: mix), keys: keys).run()
    }

    private func watch() -> EndReason {
        while true {
            guard input.press(within: 0.05) else { return .quit }
            presenter.present()
            duet.present()
            if Interrupt.isRequested { return .interrupted }
            if let error = card.error { return .failed(Failure(error)) }
            let snapshot = call.snapshot
            if let ending = snapshot.ending { return EndReason(ending) }
            show(snapshot)
        }
    }

    /// Returns the seconds of sound so far; nil before sound starts.
    private static func seconds(_ snapshot: LiveCallSnapshot) -> Double? {
        switch snapshot.sound {
        case .none, .waiting: nil
        case .running(let since): HostTime.now().seconds(since: since)
        case .stopped(let seconds): seconds
        }
    }

    // MARK: Status line

    /// Redraws the line at once, so that a key takes effect visibly.
    private func refresh() { if Terminal.redraws { status.ask() } }

    private func show(_ snapshot: LiveCallSnapshot) {
        let seconds = Self.seconds(snapshot)
        let elapsed = seconds ?? HostTime.now().seconds(since: startTime)
        guard seconds != nil || Terminal.isInteractive, status.isDue(at: elapsed) else { return }
        if let choice = input.nextSong.line, Terminal.redraws { return StatusLine.live(choice) }
        let line = statusLine(snapshot, elapsed: seconds)
        StatusLine.show(
            plain: line.plain, live: line.text(width: PlayLine.terminalWidth, hasColour: Terminal.hasColour))
    }

    private func statusLine(_ snapshot: LiveCallSnapshot, elapsed: Double?) -> RoomStatusLine {
        let levels = call.levels
        return RoomStatusLine(
            elapsed: elapsed, duration: options.duration, peak: levels.own.spokenPeak,
            isMuted: snapshot.isMuted, isPushToTalk: snapshot.isPushToTalk, isRecording: snapshot.recording != nil,
            outputVolume: snapshot.outputVolume,
            accompaniment: snapshot.accompaniment.map { AccompanimentDocument($0, at: .now()) },
            duet: call.duetStatus.flatMap { DuetSentences.line($0, selected: input.selectedVoice($0)) },
            others: snapshot.participants.map {
                Self.line($0, levels.participants[$0.id], isSelected: $0.id == input.selection)
            },
            questionCount: snapshot.joinRequests.count)
    }

    private static func line(
        _ participant: Participant, _ statistics: CallStatistics?, isSelected: Bool
    ) -> RoomStatusLine.Other {
        RoomStatusLine.Other(
            name: participant.name.text, peak: statistics?.level.peak,
            isSpeaking: statistics?.level.isSpeaking ?? false,
            isMuted: participant.isMuted, isAway: participant.isAway, isRecording: participant.isRecording,
            isSelected: isSelected, volume: participant.volume, isHeard: participant.isHeard,
            delay: statistics?.mouthToEar,
            lost: max(0, statistics?.media.rtp.packetsMissing ?? 0),
            glitches: statistics?.playout.glitches ?? 0, depth: statistics.flatMap(Self.depth),
            isConnected: participant.isConnected)
    }

    /// Returns the jitter buffer's depth in seconds; nil before there is sound.
    private static func depth(_ statistics: CallStatistics) -> Double? {
        statistics.playout.isStarted ? max(0, statistics.playout.depth) : nil
    }

    // MARK: The report

    private func summary(_ report: CallReport, _ ending: EndReason) -> String {
        let reason = ending.bracketed(quit: "left")
        guard Self.seconds(call.snapshot) != nil else { return "No call took place\(reason)." }
        var lines = ["Call ended after \(Int(report.seconds)) s\(reason)."]
        for peer in report.peers { lines += peer.summary }
        if let voice = report.voice?.summary { lines.append(voice) }
        if let heard = report.heard { lines.append("Recorded the loudspeaker to \(heard.file).") }
        return lines.joined(separator: "\n")
    }

    private func report(_ ending: EndReason, _ device: CallDevice) -> CallReport {
        let snapshot = call.snapshot
        var report = CallReport(
            role: isHost ? "host" : "guest", name: snapshot.localParticipant?.name.text ?? "",
            key: call.fingerprint.hex,
            room: snapshot.room.map {
                CallReport.Room(name: $0.name.text, id: $0.id.description, epoch: Int($0.epoch.number))
            }, seconds: Self.seconds(snapshot) ?? 0, ended: ending.text(quit: "left"),
            device: CallReport.Device(device, card.asked),
            routeChanges: card.routeChanges, interruptions: card.interruptions, routeLostFrames: card.lostFrameCount,
            microphone: "\(call.levels.own.microphone)", spoken: card.spoken, heard: card.heard,
            peers: call.records.map { CallReport.Peer($0) },
            callback: CallReport.Callback(card.watchdog.snapshot), memoryAnonymousKiB: Self.anonymousMemory())
        report.voice = CallReport.Voice(call.voice, snapshot)
        report.recording = presenter.recording.map { CallReport.Recording($0) }
        let takes = call.duetTakeReports
        report.takes = takes.isEmpty ? nil : takes
        report.microphoneCallback = card.inputWatchdog.map { CallReport.Callback($0.snapshot) }
        return report
    }

    /// Returns the anonymous memory of this process in KiB (`RssAnon`); nil if the kernel does not state it.
    private static func anonymousMemory() -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        return text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }?.split(separator: " ").dropFirst().first
            .flatMap { Int($0) }
    }
}

extension LiveCallSnapshot {
    /// True if the call has ended because its sound device could not be prepared or started.
    fileprivate var isSoundFailed: Bool {
        switch ending {
        case .device, .notPrepared: true
        default: false
        }
    }
}
