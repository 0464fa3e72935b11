import AudioBase
import AudioDevices
import AudioSession
import Call
import Foundation
import MediaTransport

/// Runs one call from the first block to the report: watches over it, shows how it stands, ends it for the right reason.
struct CallRunner {
    /// Why a call came to its end.
    enum Ending {
        case duration
        case interrupted
        case peerLeft
        case failed(Failure)

        var word: String {
            switch self {
            case .duration: "duration"
            case .interrupted: "interrupted"
            case .peerLeft: "peer left"
            case .failed(let failure): failure.line
            }
        }
    }

    let options: CallOptions
    let role: String
    let peer: String
    let card: SoundCard
    let session: CallSession
    /// Seconds without a packet after which the far side counts as gone. A program that was stopped for 5 s comes back.
    private static let patience = 7.0
    /// Seconds without a sound card after which the call ends.
    private static let devicePatience = 30.0

    /// The card is prepared.
    func run() throws {
        let began = HostTime.now()
        let ending: Ending
        var voice = VoiceWatch(
            session.voice, mode: options.voice.voiceProcessing, card: card,
            channelCount: session.configuration.channelCount)
        do {
            try session.start()
            Terminal.say(card.summary)
            voice.tellEffects()
            ending = watch(since: began, &voice)
        } catch {
            session.stop()
            card.close()
            throw error
        }
        // While it runs: a stopped device has neither a real-time priority nor a latency.
        let (device, delay) = (card.report, session.statistics.mouthToEar)
        session.stop()
        card.close()
        let seconds = HostTime.now().seconds(since: began)
        var report = makeReport(ending: ending, seconds: seconds, device: device, delay: delay)
        report.voice = voice.report
        if options.json { try Self.print(report) } else { Terminal.say(summary(report)) }
        switch ending {
        case .failed(let failure): throw failure
        case .interrupted: throw ExitCodes.interrupted
        case .duration, .peerLeft: break
        }
    }

    private func watch(since began: HostTime, _ voice: inout VoiceWatch) -> Ending {
        var line = LiveLine(isPlain: !Terminal.isInteractive)
        var awake = began  // since when this program has not been stopped
        var looked = began
        var microphone = MicrophoneCheck.Finding.fine
        while true {
            Thread.sleep(forTimeInterval: 0.05)
            card.watchdog.gather()
            session.followDevice()
            voice.look()
            let now = HostTime.now()
            if now.seconds(since: looked) > 1 { awake = now }
            looked = now
            let statistics = session.statistics
            if let ending = ending(statistics, now: now, awake: awake, began: began) {
                Terminal.live("")
                return ending
            }
            if statistics.levels.microphone != microphone {
                microphone = statistics.levels.microphone
                if let advice = microphone.advice { Terminal.warn(advice) }
            }
            line.show(statistics, elapsed: now.seconds(since: began), of: options.duration)
        }
    }

    private func ending(_ statistics: CallStatistics, now: HostTime, awake: HostTime, began: HostTime) -> Ending? {
        if Interrupt.isRequested { return .interrupted }
        if let (why, since) = card.session.interruption, case let seconds = now.seconds(since: max(since, began)),
            seconds > Self.devicePatience
        {
            return .failed(Failure("no sound for \(Int(seconds)) s: \(why)", status: Failure.unavailable))
        }
        if let error = statistics.failure { return .failed(Failure(error)) }
        if let error = card.fileError { return .failed(Failure(error)) }
        if statistics.media.peerLeft { return .peerLeft }
        if let duration = options.duration, now.seconds(since: began) >= duration { return .duration }
        let heard = statistics.media.lastHeard
        let silence = now.seconds(since: max(heard ?? began, awake))
        // A machine that says nobody listens need not be waited for as long; it may still be starting, though.
        if silence > Self.patience || (statistics.media.isRefused && silence > 1 && heard != nil) {
            let what =
                heard == nil
                ? "no sound ever came from \(peer): check that UDP gets through (ufw, firewalld, nft) and call again"
                : "\(peer) vanished \(Int(silence.rounded())) s ago: call again when it is back"
            return .failed(Failure(what, status: Failure.lost))
        }
        return nil
    }

    private static func print(_ report: CallReport) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try Terminal.output(String(decoding: encoder.encode(report), as: UTF8.self) + "\n")
    }

    private func summary(_ report: CallReport) -> String {
        let delay =
            report.delay.mouthToEarEstimateMs.map { String(format: "about %.0f ms mouth to ear", $0) }
            ?? "delay unknown"
        var text =
            "call ended (\(report.ended)) after \(Int(report.seconds)) s: \(report.sent.packets) packets sent, "
            + "\(report.received.packets) received, \(report.received.lost) lost, "
            + "\(String(format: "%.0f", report.received.concealedMs)) ms concealed, \(delay)"
        if let voice = report.voice?.summary { text += "\n\(voice)" }
        if let heard = report.heard { text += "\nheard: \(heard.file)" }
        return text
    }
}

extension CallRunner {
    private func makeReport(
        ending: Ending, seconds: Double, device: CallReport.Device, delay: Double?
    ) -> CallReport {
        let statistics = session.statistics
        let configuration = session.configuration
        let rtp = statistics.media.rtp
        let playout = statistics.playout
        return CallReport(
            role: role, codec: configuration.codec.rawValue, rate: configuration.streamRate,
            channels: configuration.channelCount, packetFrames: configuration.framesPerPacket,
            bitRate: configuration.codec == .pcm ? nil : configuration.bitRate, peer: peer, seconds: seconds,
            ended: ending.word, device: device, routeChanges: card.session.routeChanges,
            interruptions: card.session.interruptions,
            routeLostFrames: card.session.lostFrameCount, microphone: "\(statistics.levels.microphone)",
            spoken: card.spoken, heard: card.heard,
            sent: CallReport.Sent(
                packets: rtp.packetsSent, bytes: rtp.bytesSent, lostBeforeEncoding: statistics.media.captureLostFrames,
                failures: statistics.media.sendFailures),
            received: CallReport.Received(
                packets: rtp.packetsReceived, bytes: rtp.bytesReceived, lost: max(0, rtp.packetsMissing),
                late: playout.latePackets + statistics.media.lateUnits, missing: playout.missingPackets,
                duplicates: rtp.packetsDuplicate, reordered: rtp.packetsReordered,
                corrupt: statistics.media.corruptPackets, rejected: statistics.media.rejectedPackets,
                restarts: playout.restarts, concealedFrames: playout.concealedFrames,
                concealedMs: Double(playout.concealedFrames) / configuration.streamRate * 1e3, skips: playout.skips,
                droppedFrames: playout.droppedFrames, insertedFrames: playout.insertedFrames),
            delay: CallReport.Delay(
                mouthToEarEstimateMs: delay.map { $0 * 1e3 }, playoutMs: playout.delay * 1e3,
                depthMs: playout.depth * 1e3, roundTripMs: rtp.roundTrip.map { $0 * 1e3 }, jitterMs: rtp.jitter * 1e3,
                driftPPM: playout.driftPPM),
            callback: CallReport.Callback(card.watchdog.snapshot), memoryAnonymousKiB: Self.anonymousMemory())
    }

    /// What the kernel counts as this process's own memory, in KiB.
    private static func anonymousMemory() -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        return text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }?.split(separator: " ").dropFirst().first
            .flatMap { Int($0) }
    }
}
