// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall
import Foundation

/// The status line of a call: the local microphone, and each remote participant with its level, delay and losses.
struct RoomStatusLine {
    /// A remote participant.
    struct Other {
        var name: String
        /// The peak of the participant's sound, 1 being full scale; nil if no sound arrives.
        var peak: Float?
        var isSpeaking = false
        var isMuted = false
        var isAway = false
        var isRecording = false
        /// True if the volume keys are for this participant.
        var isSelected = false
        /// The playback volume, a factor.
        var volume: Float = 1
        /// False if the user chose not to hear the participant.
        var isHeard = true
        /// The estimated seconds from the participant's microphone to the local loudspeaker.
        var delay: Double?
        /// The number of lost packets.
        var lost = 0
        var glitches = 0
        /// The depth of the jitter buffer in seconds; nil before sound arrives.
        var depth: Double?
        var isConnected = false

        /// The volume, if it is not the default; otherwise nil.
        fileprivate var volumeChange: String? { VolumeSentences.change(volume, isHeard: isHeard) }
    }

    /// The seconds since the call's sound began; nil before.
    var elapsed: Double?
    /// The user's time limit in seconds; nil for none.
    var duration: Double?
    /// The peak of the local microphone, 1 being full scale.
    var peak: Float = 0
    var isMuted = false
    /// True during push to talk.
    var isPushToTalk = false
    /// True if the local participant records.
    var isRecording = false
    /// The volume of the whole playback, a factor.
    var outputVolume: Float = 1
    var accompaniment: AccompanimentDocument?
    /// The duet as a part of the line; nil without one.
    var duet: String?
    var others: [Other] = []
    /// The number of guests who ask to be admitted.
    var questionCount = 0

    /// The parts that a line of limited width contains.
    private struct Detail {
        var hasDepth = true
        var hasMeters = true
        /// True for the meter of the local microphone, which a singer needs most.
        var hasOwnMeter = true
        /// The maximum columns of a name.
        var nameLimit = 24
        /// The number of remote participants shown.
        var count = Int.max
    }

    /// Returns the most detailed line that fits a terminal of `width` columns. A line that is too long loses the buffer's depth,
    /// then ends of names, then the others' meters, then one's own, then the last participants. Delay and losses stay.
    func text(width: Int, hasColour: Bool) -> String {
        var details = [
            Detail(), Detail(hasDepth: false), Detail(hasDepth: false, nameLimit: 12),
            Detail(hasDepth: false, hasMeters: false), Detail(hasDepth: false, hasMeters: false, nameLimit: 12),
            Detail(hasDepth: false, hasMeters: false, hasOwnMeter: false),
            Detail(hasDepth: false, hasMeters: false, hasOwnMeter: false, nameLimit: 12),
        ]
        details += (0...max(0, others.count - 1)).reversed().map {
            Detail(hasDepth: false, hasMeters: false, hasOwnMeter: false, nameLimit: 6, count: $0 + 1)
        }
        let lines = details.map { line($0) }
        let fitting = lines.first { PlayLine.columns($0) < width } ?? PlayLine.fit(lines.last ?? "", width - 1)
        return coloured(fitting, hasColour)
    }

    /// The line with all details, for output that is not redrawn.
    var plain: String { line(Detail(nameLimit: 63)) }

    /// The state of the call in sentences, without level meters.
    var sentences: String {
        var all = others.map { other in
            let name = TerminalText.sanitized(other.name)
            let volume = other.volumeChange.map { ", \($0)" } ?? ""
            if other.isAway { return "\(name) is away\(volume)." }
            guard other.isConnected else { return "\(name) is connecting\(volume)." }
            let delay = other.delay.map { String(format: "delay %.0f ms, ", $0 * 1e3) } ?? ""
            let glitches = other.glitches == 1 ? "1 glitch" : "\(other.glitches) glitches"
            return "\(name)\(other.isMuted ? " (muted)" : ""): \(delay)\(other.lost) lost, \(glitches)\(volume)."
        }
        if others.isEmpty { all.append("Waiting for guests.") }
        if questionCount > 0 { all.append("Requests: \(questionCount).") }
        if outputVolume != 1 { all.append("\(VolumeSentences.playback(outputVolume)).") }
        if isPushToTalk {
            all.append("Push to talk: hold Space to talk.")
        } else if isMuted {
            all.append("You are muted.")
        }
        if let accompaniment { all.append("Accompaniment: \(AccompanimentSentences.text(accompaniment)).") }
        if isRecording { all.append("You are recording.") }
        all += others.filter(\.isRecording).map { "\(TerminalText.sanitized($0.name)) is recording." }
        return all.joined(separator: " ")
    }

    /// True if any participant records.
    private var isRecorded: Bool { isRecording || others.contains(where: \.isRecording) }

    /// The mark in place of the meter of a muted microphone.
    private var mutedMeter: String { isPushToTalk ? "[hold Space]" : "[  muted   ]" }

    private func line(_ detail: Detail) -> String {
        var parts: [String] = []
        if let elapsed {
            parts.append(
                duration.map { String(format: "%3.0f/%.0f s", elapsed, $0) } ?? String(format: "%3.0f s", elapsed))
        }
        if isRecorded { parts.append("rec") }
        if detail.hasOwnMeter {
            parts.append("me \(isMuted ? mutedMeter : StatusLine.meter(peak))")
        } else if isMuted {
            parts.append(isPushToTalk ? "hold Space" : "muted")
        }
        if let duet { parts.append(duet) }
        if outputVolume != 1 { parts.append("playback \(VolumeSentences.text(outputVolume))") }
        if let accompaniment {
            let limit = detail.hasMeters || detail.nameLimit > 12 ? detail.nameLimit : 0
            parts.append(AccompanimentSentences.line(accompaniment, titleLimit: limit))
        }
        parts += shown(detail.count).map { Self.part($0, detail) }
        if others.count > detail.count { parts.append("+\(others.count - detail.count)") }
        if others.isEmpty { parts.append("waiting for guests") }
        if questionCount > 0 { parts.append(questionCount == 1 ? "1 request" : "\(questionCount) requests") }
        return parts.joined(separator: "  ")
    }

    /// Returns the first participants, and among them the selected one.
    private func shown(_ count: Int) -> [Other] {
        var shown = Array(others.prefix(count))
        if let index = others.firstIndex(where: \.isSelected), index >= shown.count {
            shown[shown.count - 1] = others[index]
        }
        return shown
    }

    private static func part(_ other: Other, _ detail: Detail) -> String {
        let mark = other.isSelected ? ">" : ""
        var text = mark + PlayLine.fit(TerminalText.sanitized(other.name), detail.nameLimit)
        if other.isAway {
            text += " away"
        } else if !other.isConnected {
            text += " connecting"
        } else if other.isMuted {
            text += " (muted)"
        } else if detail.hasMeters {
            text += " \(StatusLine.meter(other.peak ?? 0))"
        }
        if let volume = other.volumeChange { text += " \(volume)" }
        guard !other.isAway, other.isConnected else { return text }
        if let delay = other.delay {
            text += String(format: detail.hasMeters ? " delay %.0f ms" : " %.0f ms", delay * 1e3)
            if detail.hasDepth, let depth = other.depth { text += String(format: " (buffer %.0f ms)", depth * 1e3) }
        }
        if other.lost > 0 { text += " lost \(other.lost)" }
        if other.glitches > 0 { text += " glitches \(other.glitches)" }
        return text
    }

    /// Returns the line with the names of talking participants in green, the mark of a muted microphone in yellow and the mark of
    /// a recording in red. Without colour, returns it unchanged.
    private func coloured(_ line: String, _ hasColour: Bool) -> String {
        guard hasColour else { return line }
        var line = line
        // The mark stands before all names.
        if isRecorded { line = line.replacing("rec", with: "\u{1B}[31mrec\u{1B}[0m", maxReplacements: 1) }
        if isMuted {
            line = line.replacing(mutedMeter, with: "\u{1B}[33m\(mutedMeter)\u{1B}[0m", maxReplacements: 1)
        }
        for other in others where other.isSpeaking && !other.isMuted {
            let name = TerminalText.sanitized(other.name) + " ["
            line = line.replacing(name, with: "\u{1B}[32m\(name.dropLast(2))\u{1B}[0m [", maxReplacements: 1)
        }
        return line
    }
}
