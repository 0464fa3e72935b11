// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioFiles
import EarshotAudioQueues
import Foundation

/// Runs a recording from the first block to the report.
final class RecordRunner {
    private let command: RecordCommand
    private let plan: RecordPlan
    private let card: RecordCard
    private var pauses = 0
    private var isStandingBy: Bool
    /// The indices of the files whose early end was reported.
    private var reportedFiles: Set<Int> = []
    private var status = StatusLine()

    init(_ command: RecordCommand) throws {
        self.command = command
        plan = try RecordPlan(command)
        card = try RecordCard(command, plan)
        isStandingBy = command.standby
    }

    func run() throws {
        let keys = KeyboardInput()
        do {
            try card.start(standby: command.standby)
        } catch {
            card.close()
            throw error
        }
        presentStart(hasKeys: keys != nil)
        let ending = watch(keys)
        Terminal.live("")
        let device = card.report  // before close(): a stopped device has no real-time priority
        card.close()
        reportFailures()
        let report = RecordReport(
            command, plan, card, device: device, ended: ending.text(quit: "asked"), pauses: pauses,
            warnings: writeTags())
        try report.notify(ending, asJSON: command.json)
        if report.isClipped { Terminal.warn("The recording clipped. Lower the microphone's gain.") }
        if case .failed(let failure) = ending { throw failure }
        if let error = card.recorder.error { throw Failure(error) }
        try ending.throwUnlessSuccessful(endsByInterrupt: true)
    }

    private static let hint = "Keys: p or space pause, s status, ? help, q stop"

    private func presentStart(hasKeys: Bool) {
        Terminal.say(card.summary)
        let format = card.recorder.format
        Terminal.say(
            "Recording: \(plan.items.map(\.name).joined(separator: ", ")), "
                + FileFormatting.format(rate: format.sampleRate, channels: format.channelCount))
        let pausing = hasKeys ? "p or space" : "kill -USR1 \(getpid())"
        if command.standby {
            Terminal.say("Standing by. To start: \(pausing)")
        } else if hasKeys {
            Terminal.say(Self.hint)
        }
        for warning in [command.microphone.mapWarning(card.session.currentRoute)].compactMap({ $0 }) {
            Terminal.warn(warning)
        }
        for item in plan.items where !command.tags.isEmpty && !item.keepsTags {
            Terminal.warn(
                "\(item.name): tags are not written. \(item.isStream ? "A stream" : "\(item.type)") cannot store them.")
        }
    }

    private func watch(_ keys: KeyboardInput?) -> EndReason {
        let news = card.session.presentEvents()
        defer { news.cancel() }
        var microphone = MicrophoneCheck(sampleRate: 1_000)
        let began = HostTime.now()
        var lastMicrophoneCheck = began
        while true {
            let key = keys?.next(within: 0.05)
            if keys == nil { Thread.sleep(forTimeInterval: 0.05) }
            card.watchdog.gather()
            let now = HostTime.now()
            if let ending = ending(now) { return ending }
            switch key {
            case .character("q"), .character("Q"): return .quit
            case .character("p"), .character("P"), .character(" "): togglePause()
            case .character("s"), .character("S"): status.ask()
            case .character("?"), .character("h"): Terminal.say(Self.hint)
            default: break
            }
            for _ in 0..<Interrupt.takePauses() { togglePause() }
            reportFailures()
            if card.recorder.files.allSatisfy({ $0.error != nil }) {
                return .failed(
                    card.recorder.error.map { Failure($0) } ?? Failure("Nothing is being written.", status: 73))
            }
            let elapsedMilliseconds = Int(min(0.1, now.seconds(since: lastMicrophoneCheck)) * 1_000)
            lastMicrophoneCheck = now
            // A simulated microphone is silent when its file has ended.
            if !card.recorder.isRecording || card.asked.device == .simulated {
                microphone.reset()
            } else if microphone.update(card.recorder.level, frameCount: elapsedMilliseconds),
                let advice = microphone.finding.advice
            {
                Terminal.warn(advice)
            }
            show(now.seconds(since: began))
        }
    }

    private func togglePause() {
        if card.recorder.isRecording {
            pauses += 1
            card.recorder.pause()
        } else {
            isStandingBy = false
            do {
                try card.record()
            } catch { Terminal.warn(error) }
        }
        status.ask()
    }

    private func ending(_ now: HostTime) -> EndReason? {
        if Interrupt.isRequested { return .interrupted }
        if let failure = card.session.interruptionFailure(at: now) { return .failed(failure) }
        return card.isComplete ? .duration : nil
    }

    /// Warns once about each file that ended early. All other files continue.
    private func reportFailures() {
        for (index, file) in card.recorder.files.enumerated() where !reportedFiles.contains(index) {
            guard let error = file.error else { continue }
            reportedFiles.insert(index)
            Terminal.warn(error)
        }
    }

    private func show(_ elapsed: Double) {
        guard status.isDue(at: elapsed) else { return }
        let recorder = card.recorder
        let format = recorder.format
        var line = RecordLine()
        line.state = isStandingBy ? .standby : recorder.isRecording ? .recording : .paused
        line.elapsed = Double(recorder.elapsedFrameCount) / format.sampleRate
        line.duration = command.duration
        line.peak = card.peak
        line.bytes = recorder.paths.reduce(0) { $0 + RecordReport.byteCount($1) }
        line.lost = recorder.lostFrameCount
        line.part = command.split == nil ? nil : recorder.files.first.map { $0.paths.count + plan.firstPart - 1 }
        line.interruption = card.session.interruption.map { "\($0.kind)" }
        StatusLine.show(plain: line.summary, live: line.text(hasColour: Terminal.hasColour))
    }

    /// Writes the tags to all recorded files that can store tags. Returns the errors by path.
    private func writeTags() -> [String: String] {
        var warnings: [String: String] = [:]
        for (item, file) in zip(plan.items, card.recorder.files) where item.keepsTags {
            for (index, path) in file.paths.enumerated() {
                do throws(AudioFileError) {
                    try command.tags.write(to: path, part: command.split == nil ? nil : index + plan.firstPart)
                } catch {
                    warnings[path] = ErrorText.text(error)
                    Terminal.warn(error)
                }
            }
        }
        return warnings
    }
}
