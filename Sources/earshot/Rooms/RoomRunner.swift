import AudioBase
import AudioDevices
import AudioSession
import Call
import Foundation
import MediaTransport
import Nearby
import Rooms

/// A call in a room, from the first block to the report: shows how it stands, does what keys say, ends for the right reason.
final class RoomRunner {
    private let options: CallOptions
    private let isHost: Bool
    private let console: RoomConsole
    private let card: SoundCard
    private let call: CallSession
    private var voice: VoiceWatch
    private var peers = RoomPeers()
    /// When sound began; nil while nobody else has come.
    private var began: HostTime?
    private let opened = HostTime.now()
    private var shown = -1.0
    private var microphone = MicrophoneCheck.Finding.fine
    private static let isPlain = !Terminal.isInteractive
    /// Seconds without a sound card after which the call ends.
    private static let devicePatience = 30.0

    init(_ options: CallOptions, isHost: Bool, console: RoomConsole, card: SoundCard, call: CallSession) {
        self.options = options
        self.isHost = isHost
        self.console = console
        self.card = card
        self.call = call
        voice = VoiceWatch(
            call.voice, mode: options.voice.voiceProcessing, card: card, channelCount: options.channels)
        console.describe = { [call] in call.statistics(of: PeerID(Int($0.number))).map { $0.configuration.words } }
        console.hasSound = true
        console.mute = { [call] in call.isMuted = $0 }
    }

    /// In the room, as a host or as a guest that was let in.
    func run() throws {
        let ending: EndReason
        do {
            ending = try watch()
        } catch {
            leave()
            throw error
        }
        Terminal.live("")
        // While it runs: a stopped device has neither a real-time priority nor a latency.
        let device = card.report
        follow()
        leave()
        let seconds = began.map { HostTime.now().seconds(since: $0) } ?? 0
        let report = report(ending, seconds: seconds, device: device)
        if options.json { try Self.print(report) } else { Terminal.say(summary(report)) }
        try ending.throwUnlessSuccessful()
    }

    /// Says goodbye, hands over, and closes what was opened.
    private func leave() {
        Terminal.live("")
        let session = console.session
        if began != nil { call.stop() }
        waiting { await session.close() }
        card.close()
    }

    private func watch() throws -> EndReason {
        while true {
            // Sound begins as soon as somebody comes.
            guard console.press(within: began == nil ? 0.01 : 0.05) else { return .quit }
            console.take()
            if began == nil, !console.others.isEmpty { try start() }
            let now = HostTime.now()
            if began != nil { lookAfterSound() }
            follow()
            if let ending = ending(now) { return ending }
            show(now)
        }
    }

    /// Somebody else is there.
    private func start() throws {
        try card.prepare()
        try call.start()
        began = .now()
        Terminal.say(card.summary)
        voice.tellEffects()
    }

    private func lookAfterSound() {
        card.watchdog.gather()
        card.inputWatchdog?.gather()
        call.followDevice()
        voice.look()
        let finding = call.levels.microphone
        guard finding != microphone else { return }
        microphone = finding
        // A simulated microphone says what its file says, and nothing when that has ended.
        if options.card.device != .simulated, let advice = finding.advice { Terminal.warn(advice) }
    }

    /// Keeps what the report will say of each.
    private func follow() {
        let seconds = HostTime.now().seconds(since: began ?? opened)
        for member in console.others {
            let id = PeerID(Int(member.id.number))
            guard let statistics = call.statistics(of: id) else { continue }
            console.link(to: member, statistics.media.rate)
            peers.update(member, statistics, console.session.report(of: member.id), at: seconds)
        }
        if let began {
            for member in console.left { peers.left(member.id, after: HostTime.now().seconds(since: began)) }
        }
    }

    private func ending(_ now: HostTime) -> EndReason? {
        if Interrupt.isRequested { return .interrupted }
        if let ending = console.ending { return .failed(Failure(ending)) }
        if let error = call.failure { return .failed(Failure(error)) }
        if let error = card.fileError { return .failed(Failure(error)) }
        guard let began else { return nil }
        if let (why, since) = card.interruption, case let seconds = now.seconds(since: max(since, began)),
            seconds > Self.devicePatience
        {
            return .failed(Failure("no sound for \(Int(seconds)) s: \(why)", status: Failure.unavailable))
        }
        if let duration = options.duration, now.seconds(since: began) >= duration { return .duration }
        guard !isHost, console.others.isEmpty else { return nil }
        guard let member = console.vanished else { return .alone }
        return .failed(Failure("\(member.name) vanished, and nobody else is here; join again", status: Failure.lost))
    }

    // MARK: Words

    private func show(_ now: HostTime) {
        let elapsed = now.seconds(since: began ?? opened)
        guard elapsed - shown >= (Self.isPlain ? 5 : 0.2) || elapsed < shown else { return }
        if Self.isPlain, began == nil { return }
        shown = elapsed
        let levels = call.levels
        let line = RoomLine(
            elapsed: began == nil ? nil : elapsed, duration: options.duration, peak: levels.spokenPeak,
            isMuted: console.isMuted, others: console.others.map(line), questionCount: console.questionCount)
        if Self.isPlain {
            Terminal.say(line.plain)
        } else {
            Terminal.live(line.text(width: PlayLine.terminalWidth, hasColour: Terminal.hasColour))
        }
    }

    private func line(_ member: Member) -> RoomLine.Other {
        let statistics = call.statistics(of: PeerID(Int(member.id.number)))
        return RoomLine.Other(
            name: member.name.text, peak: statistics?.level.peak, isSpeaking: statistics?.level.isSpeaking ?? false,
            isMuted: member.isMuted, isAway: member.isAway, delay: statistics?.mouthToEar,
            lost: max(0, statistics?.media.rtp.packetsMissing ?? 0),
            glitches: statistics?.playout.glitches ?? 0, depth: statistics.flatMap(Self.depth),
            isConnected: console.ways[member.id]?.carriesMedia ?? false)
    }

    /// Seconds that what comes late is waited for; nil before there is sound.
    private static func depth(_ statistics: CallStatistics) -> Double? {
        statistics.playout.isStarted ? max(0, statistics.playout.depth) : nil
    }

    private static func print(_ report: CallReport) throws {
        try Terminal.output(report.json())
    }

    private func summary(_ report: CallReport) -> String {
        guard began != nil else { return "nobody came; there was no call (\(report.ended))" }
        var lines = ["call ended (\(report.ended)) after \(Int(report.seconds)) s"]
        for peer in report.peers { lines += peer.summary }
        if let voice = report.voice?.summary { lines.append(voice) }
        if let heard = report.heard { lines.append("heard: \(heard.file)") }
        return lines.joined(separator: "\n")
    }

    private func report(_ ending: EndReason, seconds: Double, device: CallReport.Device) -> CallReport {
        let (roster, me) = (console.roster, console.me)
        var report = CallReport(
            role: isHost ? "host" : "guest", name: me.flatMap { roster?[$0]?.name.text } ?? "",
            key: console.session.fingerprint.hex,
            room: roster.map {
                CallReport.Room(name: $0.name.text, id: $0.room.description, epoch: Int($0.epoch.number))
            }, seconds: seconds, ended: ending.text(quit: "left"), device: device, routeChanges: card.routeChanges,
            interruptions: card.interruptions, routeLostFrames: card.lostFrameCount,
            microphone: "\(call.levels.microphone)", spoken: card.spoken, heard: card.heard, peers: peers.report,
            callback: CallReport.Callback(card.watchdog.snapshot), memoryAnonymousKiB: Self.anonymousMemory())
        report.voice = voice.report
        report.microphoneCallback = card.inputWatchdog.map { CallReport.Callback($0.snapshot) }
        return report
    }

    /// What the kernel counts as this process's own memory, in KiB.
    private static func anonymousMemory() -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        return text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }?.split(separator: " ").dropFirst().first
            .flatMap { Int($0) }
    }
}
