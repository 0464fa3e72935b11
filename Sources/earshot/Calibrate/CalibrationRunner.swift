// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDiagnostics
import EarshotLiveCall
import EarshotNearby
import Foundation

/// Runs a calibration: plays the sweeps, judges them, and stores the result.
final class CalibrationRunner {
    private let command: CalibrateCommand
    private let card: LoopbackCard
    private var status = StatusLine()

    init(_ command: CalibrateCommand) throws {
        self.command = command
        let path = command.loopPath
        card = try LoopbackCard(command.card, channels: 1) { device in
            Loopback(sampleRate: device.sampleRate, inputChannelCount: device.inputChannelCount, calibrating: path)
        }
        // The microphone is not played, as a loudspeaker would feed back.
        card.loopback.gain = 0
    }

    func run() throws {
        defer { card.close() }
        try card.start()
        let device = CalibratedDevice(CallDevice(card.session, card.device))
        let store = CalibrationStore.standard
        Terminal.say(card.summary)
        if case .stale(let other) = store.read().knowledge(of: device) {
            Terminal.say(CalibrationSentences.stale(device, measured: other))
        }
        Terminal.say(CalibrationSentences.preparation(command, card.joinInstructions))
        let sweeps = try measure()
        Terminal.live("")
        let result = Result { () throws(CalibrationError) in
            try DelayCalibration(sweeps, through: command.loopPath, sampleRate: card.device.sampleRate)
        }
        let reported = card.loopback.statedDelay?.roundTrip ?? 0
        // The result is stored first: a report that cannot be printed loses nothing.
        if case .success(let found) = result { try keep(found, reported: reported, device, store) }
        if command.json {
            let report = CalibrationReport(command, card.report, result, reported: reported)
            try Terminal.output(report.json())
        }
        switch result {
        case .success(let found):
            Terminal.say(CalibrationSentences.result(found, reported: reported))
            Terminal.say(CalibrationSentences.kept(device))
        case .failure(let error):
            let words = CalibrationSentences.refusal(error, command, card.joinInstructions)
            throw Failure(words, status: Failure.unavailable)
        }
    }

    /// Returns the result of each sweep.
    private func measure() throws -> [Result<Double, CalibrationError>] {
        let events = card.session.presentEvents()
        defer { events.cancel() }
        let (began, path) = (HostTime.now(), command.loopPath)
        var probing = LoopbackProbing(
            count: DelayCalibration.sweepCount, now: began, interrupted: CalibrationError.lostFrames
        ) { DelayCalibration.measure($0, through: path) }
        let keys = Terminal.isInteractive ? KeyboardInput() : nil
        while !probing.isComplete {
            let key = keys?.next(within: 0.05).flatMap(CommonKeys.action)
            if keys == nil { Thread.sleep(forTimeInterval: 0.05) }
            if Interrupt.isRequested { throw ExitCodes.interrupted }
            if key == .quit { throw ExitCodes.cancelled }
            card.watchdog.gather()
            let now = HostTime.now()
            if let failure = card.session.interruptionFailure(at: now) { throw failure }
            _ = probing.step(card.loopback, now: now)
            guard status.isDue(at: now.seconds(since: began)) else { continue }
            StatusLine.show(
                CalibrationSentences.progress(
                    min(probing.results.count + 1, DelayCalibration.sweepCount),
                    peak: card.loopback.currentLevels.inputPeak))
        }
        return probing.results
    }

    /// Stores the correction.
    private func keep(
        _ found: DelayCalibration, reported: Double, _ device: CalibratedDevice, _ store: CalibrationStore
    ) throws {
        let delay = CalibratedDelay(correction: found.roundTrip - reported, uncertainty: found.uncertainty)
        do throws(NearbyStoreError) {
            try store.insert(
                delay, roundTrip: found.roundTrip, through: command.path.rawValue, of: device, date: Date())
        } catch { throw Failure(CalibrationSentences.notStored(error), status: Failure.cannotCreate) }
    }
}
