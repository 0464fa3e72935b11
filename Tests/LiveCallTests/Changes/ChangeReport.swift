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
        /// The frames that the change with the worst gap allows, and that the most generous one allows.
        var (worstGapLimit, greatestLimit) = (0, 0)

        mutating func note(click level: Double) { worstClick = max(worstClick, level) }
        mutating func note(gap frameCount: Int) { worstGap = max(worstGap, frameCount) }

        mutating func note(_ allowance: GapAllowance) {
            if allowance.usedFrameCount > worstGap {
                (worstGap, worstGapLimit) = (allowance.usedFrameCount, allowance.frameCount)
            }
            greatestLimit = max(greatestLimit, allowance.frameCount)
        }
    }

    /// The kinds of faults.
    enum Fault: String, CaseIterable {
        case click
        /// A gap that is too long, as playout counts it.
        case gap
        /// A tone with an unexpected level.
        case level
        case other
    }

    private var limits = Limits()
    private(set) var rows = [CallChange.Kind: Row]()
    private var texts = [Fault: [String]]()
    /// The calls with a fault of each kind.
    private(set) var faultyCalls = [Fault: Set<UInt64>]()
    private(set) var callCount = 0
    /// The seconds of listened sound.
    private(set) var seconds = 0.0
    /// The frames of each gap of a late packet that the dial allows.
    private(set) var lateGaps: [Int] = []
    /// The packets of all voices at all listeners.
    private(set) var packetCount = 0
    /// The measured levels of tones that had a steady expected level.
    private(set) var levelCount = 0

    /// The limits of all kinds, besides those of each kind.
    struct Limits {
        /// The limit of a click in dBFS.
        var click = HeardSound.clickLimit
        /// The amplitude by which a tone may exceed its expected one, besides a tenth of that.
        var excess = 0.001
    }

    /// Returns the faults of some kinds, and how to repeat their calls.
    func faults(_ kinds: [Fault] = Fault.allCases) -> [String] {
        let calls = kinds.reduce(into: Set<UInt64>()) { $0.formUnion(faultyCalls[$1] ?? []) }
        return kinds.flatMap { texts[$0] ?? [] }
            + calls.sorted().map { "seed \($0) alone: scripts/bench changes \($0)-\($0)" }
    }

    private mutating func note(_ fault: Fault, _ text: String, in call: ChangedCall) {
        texts[fault, default: []].append("seed \(call.seed)\(text)")
        faultyCalls[fault, default: []].insert(call.seed)
    }

    /// Adds a call that has ended.
    mutating func add(_ call: ChangedCall, limits: Limits = Limits()) {
        callCount += 1
        self.limits = limits
        packetCount += call.traces.values.reduce(0) { $0 + $1.packetCount }
        for change in call.changes { rows[change.kind, default: Row()].count += 1 }
        judgeGaps(of: call)
        for allowance in call.allowances {
            rows[allowance.kind, default: Row()].note(allowance)
        }
        for peer in call.departed + call.present { judge(peer, in: call) }
        for problem in call.problems { note(.other, ", \(problem)", in: call) }
    }

    /// Judges the gaps that no change of the codec or device explains: only late packets may cause one, and only as many as the
    /// dial allows.
    private mutating func judgeGaps(of call: ChangedCall) {
        for (path, gaps) in Dictionary(grouping: call.gaps, by: \.path) {
            guard let trace = call.traces[path] else { continue }
            for gap in gaps {
                let cause = trace.cause(at: gap.time)
                if !gap.isDuringChange, cause == .latePacket, trace.allows(latePackets: gaps.count) {
                    lateGaps.append(gap.frameCount)
                    continue
                }
                let change = Self.lastChange(before: gap.time, in: call)
                if let kind = change?.kind { rows[kind, default: Row()].note(gap: gap.frameCount) }
                note(.gap, ", \(Self.text(gap.time)): \(gap.text) (\(cause)) \(Self.text(change))", in: call)
            }
        }
    }

    private mutating func judge(_ peer: ChangedPeer, in call: ChangedCall) {
        let heard = peer.heard
        let sound = HeardSound(heard)
        seconds += Double(heard.count) / ChangedCall.rate
        let voices = call.traces.filter { $0.key.listener == peer.id }.values
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
            // A phase that changes within a measure reduces its tone, and adds to the others.
            guard gains.count == amplitudes.count, !voices.contains(where: { $0.jumps(from: start, to: end) }) else {
                continue
            }
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
        guard missing > 0 || amplitude > 1.1 * expected + limits.excess + measure.leakage else { return }
        let change = Self.lastChange(before: time, in: call)
        note(.level, ", \(Self.text(time)): \(text) \(Self.text(change))", in: call)
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
        let sound = "person \(person) hears a click of \(String(format: "%.1f dBFS", level))"
        note(.click, ", \(Self.text(time)): \(sound) \(Self.text(change))", in: call)
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
        [
            "| Change | made | worst click, dBFS | worst gap, frames | that change may cost | any may cost |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
            + kinds.map { kind in
                let row = rows[kind] ?? Row()
                return
                    "| \(kind.rawValue) | \(row.count) | \(String(format: "%.1f", row.worstClick)) | \(row.worstGap) | "
                    + "\(row.worstGapLimit) | \(row.greatestLimit) |"
            }
    }

    /// The gaps of late packets that the dial allows, as text.
    var lateText: String {
        "Late packets that the dial allows: \(lateGaps.count) gaps, \(lateGaps.max() ?? 0) frames at most; "
            + "\(lateGaps.count) of \(packetCount) packets, of which the dial allows 0.02 to 1 %."
    }
}
