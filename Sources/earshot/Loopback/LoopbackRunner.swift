// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession
import EarshotDiagnostics
import Foundation

/// Runs a loopback from the first block to the report: prints its state, measures, and ends it.
final class LoopbackRunner {
    private let command: LoopbackCommand
    private let card: LoopbackCard
    private var presenter: LoopbackPresenter
    private var measurement: Result<RoundTripMeasurement, RoundTripError>?

    init(_ command: LoopbackCommand) throws {
        self.command = command
        card = try LoopbackCard(command)
        presenter = LoopbackPresenter()
    }

    func run() throws {
        let began = HostTime.now()
        do {
            try card.start()
        } catch {
            card.close()
            throw error
        }
        if command.measure == nil || command.duration != nil, let warning = card.warning { Terminal.warn(warning) }
        let keys = Terminal.isInteractive ? KeyboardInput() : nil
        if keys != nil { Terminal.say(CommonKeys.hint) }
        let ending = watch(since: began, keys)
        Terminal.live("")
        let device = card.report  // before close(): a stopped device has no real-time priority
        let (stated, joinInstructions) = (card.loopback.statedDelay, card.joinInstructions)
        card.close()
        let seconds = HostTime.now().seconds(since: began)
        if command.json {
            try print(report(ending, seconds: seconds, device: device, stated: stated))
        } else {
            Terminal.say("Loopback ended after \(Int(seconds)) s\(ending.bracketed()).")
        }
        try ending.throwUnlessSuccessful(endsByInterrupt: command.measure == nil)
        switch measurement {
        case .failure(.noLoop), .failure(.silent):
            throw Failure("No loop found. \(joinInstructions)", status: Failure.unavailable)
        case .failure(let error): throw Failure(error)
        case nil where command.measure != nil:
            throw Failure(
                "Nothing was measured. Use a longer --duration, or omit it.", status: Failure.unavailable)
        case .success, nil: break
        }
    }

    private func watch(since began: HostTime, _ keys: KeyboardInput?) -> EndReason {
        let events = card.session.presentEvents()
        defer { events.cancel() }
        var probing = command.measure.map { LoopbackProbing(roundTrips: $0, now: began) }
        var microphone = MicrophoneCheck(sampleRate: 1_000)
        var lastMicrophoneCheck = began
        while true {
            let key = keys?.next(within: 0.05).flatMap(CommonKeys.action)
            if keys == nil { Thread.sleep(forTimeInterval: 0.05) }
            card.watchdog.gather()
            if key == .quit { return .quit }
            if key == .help { Terminal.say(CommonKeys.help) }
            if key == .status { presenter.ask() }
            let now = HostTime.now()
            if let ending = ending(now: now, began: began) { return ending }
            let levels = card.loopback.currentLevels
            guard let stated = card.loopback.statedDelay else { continue }
            presenter.presentLatency(stated, card, now: now)
            presenter.presentHowls(card.loopback)
            if measurement == nil, let result = probing?.step(card.loopback, now: now) {
                presenter.notify(result, stated)
                measurement = probing?.measurement
                if case .success(let found)? = measurement { presenter.notify(found, stated) }
            }
            let elapsedMilliseconds = Int(min(0.1, now.seconds(since: lastMicrophoneCheck)) * 1_000)
            lastMicrophoneCheck = now
            if command.measure == nil, microphone.update(levels.input, frameCount: elapsedMilliseconds),
                let advice = microphone.finding.advice
            {
                Terminal.warn(advice)
            }
            presenter.show(levels, stated, elapsed: now.seconds(since: began), of: command.duration)
        }
    }

    private func ending(now: HostTime, began: HostTime) -> EndReason? {
        if Interrupt.isRequested { return .interrupted }
        if let failure = card.session.interruptionFailure(at: now) { return .failed(failure) }
        if let duration = command.duration { return now.seconds(since: began) >= duration ? .duration : nil }
        return measurement == nil ? nil : .measured
    }

    private func report(
        _ ending: EndReason, seconds: Double, device: CallReport.Device, stated: ReportedLatency?
    ) -> LoopbackReport {
        var report = LoopbackReport(
            device: device, channels: card.device.inputChannelCount, gainDb: command.gain, seconds: seconds,
            ended: ending.text(),
            stated: stated.map { LoopbackReport.Stated($0) }, howls: card.loopback.howlCount,
            routeChanges: card.session.routeChanges, interruptions: card.session.interruptions,
            routeLostFrames: card.session.lostFrameCount, callback: CallReport.Callback(card.watchdog.snapshot))
        switch (measurement, stated) {
        case (.success(let found), let stated?):
            report.measured = LoopbackReport.Measured(found, stated: stated, rate: card.loopback.sampleRate)
        case (.failure(let error), _): report.notMeasured = ErrorText.text(error)
        default: if command.measure != nil { report.notMeasured = "it ended before all probes were done" }
        }
        return report
    }

    private func print(_ report: LoopbackReport) throws {
        try Terminal.output(report.json())
    }
}
