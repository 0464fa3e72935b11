// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotLiveCall
import EarshotNearby
import Foundation

/// Runs a sound check in a terminal: prints its notices, shows the level, and passes on the keys.
final class SoundCheckRunner {
    /// The end of a check.
    struct Result {
        enum Decision: String {
            case accepted, skipped, cancelled, interrupted
            /// The check ended by itself, because there is no terminal.
            case undecided
        }

        var decision: Decision
        /// The judgement of the microphone; nil before, and not nil if the user accepted the devices.
        var finding: SoundCheck.Finding?
    }

    private let calls: CallDeviceSession
    /// The terminal's keys; without a terminal the check ends by itself.
    private let keys: KeyboardInput?
    private var status = StatusLine(refresh: 0.1)

    /// - Parameter calls: an active device that has not been started. It stays open.
    init(_ calls: CallDeviceSession, keys: KeyboardInput?) {
        self.calls = calls
        self.keys = keys
    }

    func run() throws -> Result {
        let began = HostTime.now()
        let check = try SoundCheckSession(on: calls)
        present(try check.begin(at: began))
        defer {
            Terminal.live("")
            check.close()
        }
        while true {
            if let key = nextKey() { present(handle(key, check)) }
            if Interrupt.isRequested { return Result(decision: .interrupted, finding: check.finding) }
            let now = HostTime.now()
            present(check.update(at: now))
            switch check.step {
            case .ended(let ending): return Result(decision: .init(ending), finding: check.finding)
            case .decision where keys == nil: return Result(decision: .undecided, finding: check.finding)
            case .ticks, .recording, .playback, .decision:
                guard Terminal.redraws, status.isDue(at: now.seconds(since: began)) else { continue }
                StatusLine.live(SoundCheckSentences.line(check.step, peak: check.inputPeak))
            }
        }
    }

    /// Stores that the user has accepted the devices, if the user has seen a judgement.
    /// - Returns: a sentence for the user.
    func rememberDevice(_ result: Result) -> String {
        guard result.decision == .accepted, let finding = result.finding else { return SoundCheckSentences.skipped }
        do throws(NearbyStoreError) {
            try SoundCheckStore.standard.insert(CheckedDevice(calls.description), finding: finding, date: Date())
            return SoundCheckSentences.remembered
        } catch {
            return SoundCheckSentences.forgotten(error)
        }
    }

    private func nextKey() -> Key? {
        guard let keys else {
            Thread.sleep(forTimeInterval: 0.03)
            return nil
        }
        return keys.next(within: 0.03)
    }

    private func handle(_ key: Key, _ check: SoundCheckSession) -> [SoundCheck.Notice] {
        switch key {
        case .enter: return check.perform(.accept, at: .now())
        case .character("r"), .character("R"): return check.perform(.restart, at: .now())
        case .character("q"), .character("Q"), .escape: return check.perform(.cancel, at: .now())
        case .character("?"), .character("h"): Terminal.say(SoundCheckSentences.keys)
        default: break
        }
        return []
    }

    private func present(_ notices: [SoundCheck.Notice]) {
        for notice in notices {
            switch notice {
            case .began(let route):
                Terminal.say(SoundCheckSentences.devices(route, hasKeys: keys != nil).joined(separator: "\n"))
            case .ticks(let count): Terminal.say(SoundCheckSentences.ticks(count))
            case .recording(let seconds): Terminal.say(SoundCheckSentences.recording(seconds))
            case .playback: Terminal.say(SoundCheckSentences.playback)
            case .judged(let finding) where finding.isFine:
                Terminal.say(SoundCheckSentences.text(finding, hasKeys: keys != nil))
            // Without a terminal a fault is the error with which the command ends.
            case .judged(let finding):
                if keys != nil { Terminal.warn(SoundCheckSentences.text(finding, hasKeys: true)) }
            case .decision(let finding, let hasOutput):
                if keys != nil { Terminal.notice(SoundCheckSentences.question(finding, hasOutput: hasOutput)) }
            }
        }
    }
}

extension SoundCheckRunner.Result.Decision {
    fileprivate init(_ ending: SoundCheck.Ending) {
        self =
            switch ending {
            case .accepted: .accepted
            case .skipped: .skipped
            case .cancelled: .cancelled
            }
    }
}
