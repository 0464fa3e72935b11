// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The status of a room, in one line: oneself, and each other with its level and delay.
struct RoomStatusLine {
    /// One of the others.
    struct Other {
        var name: String
        /// The peak of its sound; nil if none arrives.
        var peak: Float?
        var isSpeaking = false
        var isMuted = false
        var isAway = false
        /// Seconds from its microphone to this loudspeaker, estimated.
        var delay: Double?
        var lost = 0
        var glitches = 0
        /// Seconds of the delay that playout waits for what comes late; nil if nothing comes.
        var depth: Double?
        var isConnected = false
    }

    var elapsed: Double?
    var duration: Double?
    var peak: Float = 0
    var isMuted = false
    var others: [Other] = []
    /// The number of guests who ask to join.
    var questionCount = 0

    /// For a terminal so wide: what playout waits gives way first, then names do, then those who come last.
    func text(width: Int, hasColour: Bool) -> String {
        for (limit, isWhole) in [(24, true), (24, false), (12, false), (6, false)] {
            let line = words(nameLimit: limit, isWhole: isWhole)
            if line.count < width || limit == 6 { return coloured(PlayLine.fit(line, width - 1), hasColour) }
        }
        return ""
    }

    /// For who reads line by line.
    var plain: String { words(nameLimit: 63, isWhole: true) }

    private func words(nameLimit: Int, isWhole: Bool) -> String {
        var parts: [String] = []
        if let elapsed {
            parts.append(
                duration.map { String(format: "%3.0f/%.0f s", elapsed, $0) } ?? String(format: "%3.0f s", elapsed))
        }
        parts.append("me \(isMuted ? "[  muted   ]" : StatusLine.meter(peak))")
        parts += others.map { Self.words($0, nameLimit, isWhole) }
        if others.isEmpty { parts.append("nobody else is here") }
        if questionCount > 0 { parts.append("\(questionCount) at the door") }
        return parts.joined(separator: "  ")
    }

    private static func words(_ other: Other, _ limit: Int, _ isWhole: Bool) -> String {
        let name = PlayLine.fit(TerminalText.sanitized(other.name), limit)
        if other.isAway { return "\(name) (out of reach)" }
        guard other.isConnected else { return "\(name) (connecting)" }
        var text = "\(name) \(other.isMuted ? "(muted)" : StatusLine.meter(other.peak ?? 0))"
        if let delay = other.delay {
            text += String(format: " %.0f ms", delay * 1e3)
            if isWhole, let depth = other.depth { text += String(format: " (%.0f of it buffer)", depth * 1e3) }
        }
        if other.lost > 0 { text += " lost \(other.lost)" }
        if other.glitches > 0 { text += " glitches \(other.glitches)" }
        return text
    }

    /// The names of those who speak stand out.
    private func coloured(_ line: String, _ hasColour: Bool) -> String {
        guard hasColour else { return line }
        var line = line
        if isMuted {
            line = line.replacing("[  muted   ]", with: "\u{1B}[33m[  muted   ]\u{1B}[0m", maxReplacements: 1)
        }
        for other in others where other.isSpeaking && !other.isMuted {
            let name = TerminalText.sanitized(other.name) + " ["
            line = line.replacing(name, with: "\u{1B}[32m\(name.dropLast(2))\u{1B}[0m [", maxReplacements: 1)
        }
        return line
    }
}
