// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The status line of a running command. A terminal redraws the line. Elsewhere a line is printed every five seconds; with
/// `--plain`, only when the user asks.
struct StatusLine {
    private let interval: Double
    private var lastShownSeconds = -1.0
    private var isAsked = false

    /// - Parameter refresh: the seconds between two lines on a terminal.
    init(refresh: Double = 0.2) { interval = Terminal.isInteractive ? refresh : 5 }

    /// Forgets the time of the last line. The next line is due at once on a terminal, elsewhere from the fourth second on.
    mutating func restart() { lastShownSeconds = -1 }

    /// Makes the next line due at once.
    mutating func ask() { isAsked = true }

    /// Returns true if a line is due, and then counts the line as shown. The elapsed time may start again from 0.
    /// - Parameter elapsed: the seconds since the command began.
    mutating func isDue(at elapsed: Double) -> Bool {
        guard isAsked || !Terminal.isPlain && (elapsed - lastShownSeconds >= interval || elapsed < lastShownSeconds)
        else { return false }
        (lastShownSeconds, isAsked) = (elapsed, false)
        return true
    }

    /// Redraws the line `live` on a terminal; prints the line `plain` elsewhere and with `--plain`.
    static func show(plain: @autoclosure () -> String, live: @autoclosure () -> String) {
        if Terminal.redraws { Terminal.live(live()) } else { Terminal.say(plain()) }
    }

    /// Redraws a line on a terminal, without its end if it is too long for one row.
    static func live(_ line: String) { Terminal.live(PlayLine.fit(line, PlayLine.terminalWidth - 1)) }

    /// Prints a line that is the same on a terminal and elsewhere.
    static func show(_ line: String) { show(plain: line, live: line) }

    /// Returns a level meter of ten steps of 6 dB up to full scale that ends with `!` at clipping. With `--plain`, returns the
    /// level in dBFS.
    static func meter(_ peak: Float) -> String {
        if Terminal.isPlain { return peak > 0 ? String(format: "%.0f dBFS", 20 * log10(Double(peak))) : "silence" }
        let steps = peak <= 0 ? 0 : max(0, min(10, Int((20 * log10(Double(peak)) + 60) / 6)))
        return "[" + String(repeating: "#", count: steps) + String(repeating: "-", count: 10 - steps)
            + (peak >= 1 ? "!" : "]")
    }
}
