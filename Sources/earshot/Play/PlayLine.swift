// SPDX-License-Identifier: Apache-2.0

import EarshotAudioStreams
import Foundation

/// The status line of playback.
struct PlayLine {
    var isPaused = false
    /// The position in the present item, in seconds.
    var time = 0.0
    /// The duration of the present item in seconds; 0 if unknown.
    var duration = 0.0
    var title = ""
    var peak: Float = 0
    /// The volume in decibels.
    var volume = 0.0
    /// The playback speed; 1 is normal.
    var rate = 1.0
    var state: AudioStreamState?
    /// The number of the present entry and of all entries, as `2/7 `; empty for a single entry.
    var place = ""

    /// Returns the line for a terminal of `width` columns. The bar and then the title get the columns that all other parts leave.
    func text(width: Int, hasColour: Bool) -> String {
        let (sign, colour) = isPaused ? ("‖", 33) : ("▶", 32)
        let line = words(width - 2)
        return (hasColour ? "\u{1B}[\(colour)m\(sign)\u{1B}[0m" : sign) + " " + line
    }

    private func words(_ width: Int) -> String {
        let head = "\(place)\(times)"
        let tail = "\(StatusLine.meter(isPaused ? 0 : peak))\(details)"
        var freeColumns = width - 1 - head.count - tail.count - 2
        var middle = ""
        if duration > 0, freeColumns >= 8 {
            let length = min(24, freeColumns / 2)
            middle = " " + Self.bar(min(1, time / duration), length)
            freeColumns -= length + 1
        }
        if freeColumns >= 6, !title.isEmpty { middle += " " + Self.fit(title, freeColumns - 1) }
        return Self.fit("\(head)\(middle) \(tail)", width - 1)
    }

    /// The line for output that is not redrawn, with the full title.
    var plain: String {
        let words = title.isEmpty ? "" : "  \(title)"
        return "\(place)\(times)  \(StatusLine.meter(peak))\(isPaused ? " paused" : "")\(details)\(words)"
    }

    private var times: String {
        duration > 0 ? "\(Self.clock(time))/\(Self.clock(duration))" : Self.clock(time)
    }

    private var details: String {
        var words = ""
        if volume != 0 { words += String(format: " %+.0f dB", volume) }
        if rate != 1 { words += " \(FileFormatting.decimal(rate))x" }
        switch state {
        case .buffering: words += " buffering"
        case .suspended: words += " goes on live"
        case .reconnecting(let attempt, _): words += " reconnecting (\(attempt))"
        default: break
        }
        return words
    }

    static func bar(_ part: Double, _ width: Int) -> String {
        let filled = max(0, min(width, Int((part * Double(width)).rounded())))
        return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    }

    /// Returns a time such as `3:07` or `1:02:03`.
    static func clock(_ seconds: Double) -> String {
        String(FileFormatting.time(max(0, seconds.rounded(.down))).prefix { $0 != "." })
    }

    /// Returns the text if it fits into `width` columns; otherwise as much as fits, and an ellipsis.
    static func fit(_ text: String, _ width: Int) -> String {
        var (fitting, usedColumns) = ("", 0)
        for character in text {
            usedColumns += columns(character)
            if usedColumns >= width, fitting.count + 1 < text.count || usedColumns > width { return fitting + "…" }
            fitting.append(character)
        }
        return fitting
    }

    /// Returns the terminal columns of a text.
    static func columns(_ text: String) -> Int { text.reduce(0) { $0 + columns($1) } }

    /// Returns the terminal columns of a character: two for East Asian wide characters and emoji, one for all others.
    private static func columns(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if first.properties.isEmojiPresentation { return 2 }
        let wide: [ClosedRange<UInt32>] = [
            0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x20000...0x3FFFD,
        ]
        return wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    /// The columns of the terminal on standard error; 80 if unknown or less than 20.
    static var terminalWidth: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 20 else { return 80 }
        return Int(size.ws_col)
    }
}
