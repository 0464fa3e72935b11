// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EngineMeasures
import Foundation

/// The clicks and gaps of changed calls, by the kind of the last change before them.
struct ChangeReport {
    struct Row {
        var count = 0
        /// In dBFS.
        var worstClick = -240.0
        var worstGap = 0

        mutating func note(click level: Double) { worstClick = max(worstClick, level) }
        mutating func note(gap frameCount: Int) { worstGap = max(worstGap, frameCount) }
    }

    private let limits: Limits
    private(set) var rows = [CallChange.Kind: Row]()
    /// The clicks that are too loud, and the gaps that are too long, as playout counts them.
    private(set) var soundFaults: [String] = []
    /// The tones whose level is not the expected one.
    private(set) var levelFaults: [String] = []
    /// The other failures.
    private(set) var otherFaults: [String] = []
    var faults: [String] { soundFaults + levelFaults + otherFaults }
    private(set) var callCount = 0
    private(set) var faultyCallCount = 0
    /// The seconds of listened sound.
    private(set) var seconds = 0.0
    /// The measured levels of tones that had a steady expected level.
    private(set) var levelCount = 0

    /// The limits of all kinds, besides those of each kind.
    struct Limits {
        /// The limit of a click in dBFS.
        var click = HeardSound.clickLimit
        /// The frames that may be missing without an allowance.
        var unexplainedGap = 0
    }

    init(limits: Limits = Limits()) { self.limits = limits }

    /// Adds a call that has ended.
    mutating func add(_ call: ChangedCall) {
        callCount += 1
        let oldCounts = [soundFaults.count + otherFaults.count, levelFaults.count]
        defer { if faults.count > oldCounts[0] + oldCounts[1] { faultyCallCount += 1 } }
        for change in call.changes { rows[change.kind, default: Row()].count += 1 }
        for gap in call.gaps {
            if let fault = note(gap.frameCount, gap.text, at: gap.time, in: call) { soundFaults.append(fault) }
        }
        for (kind, frameCount) in call.explainedGaps {
            rows[kind, default: Row()].note(gap: frameCount)
            guard frameCount > kind.allowedGapFrames else { continue }
            soundFaults.append("seed \(call.seed): \(kind.rawValue) costs \(frameCount) frames")
        }
        for peer in call.departed + call.present { judge(peer, in: call) }
        otherFaults += call.problems.map { "seed \(call.seed), \($0)" }
        let hint = "seed \(call.seed) alone: scripts/bench changes \(call.seed)-\(call.seed)"
        if soundFaults.count + otherFaults.count > oldCounts[0] {
            otherFaults.append(hint)
        } else if levelFaults.count > oldCounts[1] {
            levelFaults.append(hint)
        }
    }

    private mutating func judge(_ peer: ChangedPeer, in call: ChangedCall) {
        let heard = peer.heard
        let sound = HeardSound(heard)
        seconds += Double(heard.count) / ChangedCall.rate
        func time(_ frame: Int) -> HostTime { peer.start.advanced(bySeconds: Double(frame) / ChangedCall.rate) }
        for (index, level) in sound.clickLevels.enumerated() {
            let time = time((index + 1) * HeardSound.clickFrameCount)
            note(click: level, heardBy: peer.person, at: time, in: call)
        }
        for (index, amplitudes) in sound.amplitudes.enumerated() {
            let (first, last) = (index * ToneMeter.frameCount, (index + 1) * ToneMeter.frameCount)
            let (start, end) = (time(first), time(last).advanced(bySeconds: 0.01))
            let gains = amplitudes.indices.compactMap {
                call.gains.steadyGain(of: $0, heardBy: peer.person, from: start, to: end)
            }
            guard gains.count == amplitudes.count else { continue }
            let expected = gains.enumerated().map { tone, gain in
                Double(gain) * (tone < 3 ? ChangedCall.amplitude : ChangedCall.songAmplitude)
            }
            let sum = expected.reduce(0, +)
            for tone in amplitudes.indices {
                let measure = Measure(
                    tone: tone, amplitude: amplitudes[tone], expected: expected[tone],
                    leakage: Self.leakage * (sum - expected[tone]))
                judge(measure, heardBy: peer.person, at: time(last), in: call)
            }
        }
    }

    /// The share of a tone that another measure may contain: playout changes its rate by up to 0.5 %.
    private static let leakage = 0.02

    /// The amplitude of a tone in 20 ms.
    private struct Measure {
        let tone: Int
        let amplitude: Double
        let expected: Double
        let leakage: Double
    }

    private mutating func judge(_ measure: Measure, heardBy person: Int, at time: HostTime, in call: ChangedCall) {
        levelCount += 1
        let (amplitude, expected) = (measure.amplitude, measure.expected)
        let missing = HeardSound.missingFrames(amplitude: amplitude + measure.leakage, expected: expected)
        let name = "person \(measure.tone % 3)'s \(measure.tone < 3 ? "voice" : "song")"
        let text = "person \(person) hears \(name) of \(amplitude), not \(expected)"
        if missing > 0 {
            if let fault = note(missing, text, at: time, in: call) { levelFaults.append(fault) }
        } else if amplitude > 1.1 * expected + 0.001 + measure.leakage {
            levelFaults.append("seed \(call.seed), \(Self.text(time)): \(text)")
        }
    }

    private mutating func note(click level: Double, heardBy person: Int, at time: HostTime, in call: ChangedCall) {
        let departure = Self.departure(before: time, in: call)
        let change = departure ?? Self.lastChange(before: time, in: call)
        let kind = departure?.kind ?? (call.isMoving(at: time) ? .device : change?.kind)
        if let kind { rows[kind, default: Row()].note(click: level) }
        // The end of a voice that leaves is concealed; later the limit is that of all changes.
        let isLater = kind == .leave && departure == nil
        guard level > max(limits.click, isLater ? HeardSound.clickLimit : kind?.clickLimit ?? HeardSound.clickLimit)
        else { return }
        soundFaults.append(
            "seed \(call.seed), \(Self.text(time)): person \(person) hears a click of "
                + String(format: "%.1f dBFS ", level) + Self.text(change))
    }

    /// Notes a gap that no changed codec or device explains. Returns a text if it is too long.
    private mutating func note(_ gap: Int, _ text: String, at time: HostTime, in call: ChangedCall) -> String? {
        let change = Self.lastChange(before: time, in: call)
        if let kind = change?.kind { rows[kind, default: Row()].note(gap: gap) }
        guard gap > limits.unexplainedGap else { return nil }
        return "seed \(call.seed), \(Self.text(time)): \(text) \(Self.text(change))"
    }

    /// Returns the departure of a person whose voice is still concealed at a time; nil if there is none.
    private static func departure(before time: HostTime, in call: ChangedCall) -> CallChange? {
        call.changes.last { $0.kind == .leave && (0...0.06).contains(time.seconds(since: $0.time)) }
    }

    /// Returns the last change that can be heard at a time, which is rounded down by at most a block and a card's start.
    private static func lastChange(before time: HostTime, in call: ChangedCall) -> CallChange? {
        call.changes.last { $0.time <= time.advanced(bySeconds: 0.01) }
    }

    private static func text(_ time: HostTime) -> String {
        String(format: "%.3f s", time.seconds(since: ChangedCall.beginning))
    }

    private static func text(_ change: CallChange?) -> String {
        guard let change else { return "before the first change" }
        return "after person \(change.person)'s \(change.text) at \(text(change.time))"
    }

    /// Returns the rows of a table in Markdown.
    func table(of kinds: [CallChange.Kind]) -> [String] {
        ["| Change | made | worst click, dBFS | worst gap, frames | allowed |", "| --- | --- | --- | --- | --- |"]
            + kinds.map { kind in
                let row = rows[kind] ?? Row()
                return
                    "| \(kind.rawValue) | \(row.count) | \(String(format: "%.1f", row.worstClick)) | \(row.worstGap) | "
                    + "\(kind.allowedGapFrames) |"
            }
    }
}
