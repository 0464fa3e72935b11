// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession
import Foundation

/// Runs the monitor from the first block to the report.
final class MonitorRunner {
    private let command: MonitorCommand
    private let card: MonitorCard
    /// The maximum seconds after `--duration` to wait for recorded frames that the device's start or a gap delayed.
    private static let recordingGrace = 1.0

    init(_ command: MonitorCommand) throws {
        self.command = command
        card = try MonitorCard(command)
    }

    func run() throws {
        let began = HostTime.now()
        do {
            try card.start()
        } catch {
            card.close()
            throw error
        }
        let keys = Terminal.isInteractive ? KeyboardInput() : nil
        presentStart()
        if keys != nil { Terminal.say(CommonKeys.hint) }
        let ending = watch(since: began, keys)
        Terminal.live("")
        let device = card.report  // before close(): a stopped device has no real-time priority
        let delay = card.delay
        card.close()
        let report = report(ending, seconds: HostTime.now().seconds(since: began), device: device, delay: delay)
        try report.notify(ending, asJSON: command.json)
        if let error = card.recorder?.error { throw Failure(error) }
        try ending.throwUnlessSuccessful(endsByInterrupt: true)
    }

    private func presentStart() {
        Terminal.say(card.summary)
        if !card.effects.isEmpty {
            Terminal.say("Effects: \(card.effects.map(\.unit.name).joined(separator: ", "))")
        }
        Terminal.say(card.delay.summary)
        if let path = command.record { Terminal.say("Recording: \(path)") }
        if let warning = card.session.currentRoute.feedbackWarning { Terminal.warn(warning) }
        for warning in command.card.mapWarnings(card.session.currentRoute) { Terminal.warn(warning) }
    }

    private func watch(since began: HostTime, _ keys: KeyboardInput?) -> EndReason {
        let events = card.session.presentEvents(warning: \.feedbackWarning)
        defer { events.cancel() }
        var status = StatusLine()
        while true {
            let key = keys?.next(within: 0.05).flatMap(CommonKeys.action)
            if keys == nil { Thread.sleep(forTimeInterval: 0.05) }
            card.watchdog.gather()
            if key == .quit { return .quit }
            if key == .help { Terminal.say(CommonKeys.help) }
            if key == .status { status.ask() }
            let now = HostTime.now()
            if let ending = ending(now: now, began: began) { return ending }
            if card.reduceHowl() {
                Terminal.warn(
                    String(
                        format: "Feedback: output lowered by %.0f dB. Use headphones or a lower --volume.",
                        -20 * log10(Double(card.reduction))))
            }
            let elapsed = now.seconds(since: began)
            if status.isDue(at: elapsed) { StatusLine.show(line(elapsed)) }
        }
    }

    private func line(_ elapsed: Double) -> String {
        let (input, output) = card.peaks
        let time =
            command.duration.map { String(format: "%3.0f/%.0f s", elapsed, $0) } ?? String(format: "%3.0f s", elapsed)
        let recorded = card.recorder.map {
            String(format: "  recorded %.1f s", Double($0.frameCount) / card.device.sampleRate)
                + ($0.lostFrameCount > 0 ? ", \($0.lostFrameCount) frames lost" : "")
        }
        return String(
            format: "%@  in %@  out %@  delay %.1f ms", time, StatusLine.meter(input), StatusLine.meter(output),
            card.delay.totalMs) + (recorded ?? "")
    }

    private func ending(now: HostTime, began: HostTime) -> EndReason? {
        if Interrupt.isRequested { return .interrupted }
        if let error = card.recorder?.error { return .failed(Failure(error)) }
        if let failure = card.session.interruptionFailure(at: now) { return .failed(failure) }
        guard let seconds = command.duration else { return nil }
        let overtime = now.seconds(since: began) - seconds
        return overtime >= (card.isRecordingComplete ? 0 : Self.recordingGrace) ? .duration : nil
    }

    private func report(
        _ ending: EndReason, seconds: Double, device: CallReport.Device, delay: MonitorReport.Delay
    ) -> MonitorReport {
        MonitorReport(
            device: device, effects: card.effects.map(\.unit.name), delay: delay, seconds: seconds,
            ended: ending.text(),
            recorded: card.recorder.map { recorder in
                MonitorReport.Recorded(
                    file: URL(fileURLWithPath: command.record ?? "").path, frames: recorder.frameCount,
                    lostFrames: recorder.lostFrameCount)
            },
            howls: card.heard.howlCount, routeChanges: card.session.routeChanges,
            interruptions: card.session.interruptions, routeLostFrames: card.session.lostFrameCount,
            callback: CallReport.Callback(card.watchdog.snapshot))
    }
}
