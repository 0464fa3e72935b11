import AudioStreams
import Foundation

/// How playing stands, in one line.
struct PlayLine {
    var isPaused = false
    var time = 0.0
    /// 0 where nobody knows.
    var duration = 0.0
    var title = ""
    var peak: Float = 0
    var volume = 0.0
    var rate = 1.0
    var state: AudioStreamState?
    var place = ""

    /// For a terminal so wide: the title gives way first, then the bar.
    func text(width: Int) -> String {
        let sign = isPaused ? "⏸" : "▶"
        let head = "\(sign) \(place)\(times)"
        let tail = "\(LiveLine.meter(isPaused ? 0 : peak))\(details)"
        var room = width - 1 - head.count - tail.count - 2
        var middle = ""
        if duration > 0, room >= 8 {
            let length = min(24, room / 2)
            middle = " " + Self.bar(min(1, time / duration), length)
            room -= length + 1
        }
        if room >= 6, !title.isEmpty { middle += " " + Self.fit(title, room - 1) }
        return Self.fit("\(head)\(middle) \(tail)", width - 1)
    }

    /// For who reads line by line.
    var plain: String {
        let words = title.isEmpty ? "" : "  \(title)"
        return "\(place)\(times)  \(LiveLine.meter(peak))\(isPaused ? " paused" : "")\(details)\(words)"
    }

    private var times: String {
        duration > 0 ? "\(Self.clock(time))/\(Self.clock(duration))" : Self.clock(time)
    }

    private var details: String {
        var words = ""
        if volume != 0 { words += String(format: " %+.0f dB", volume) }
        if rate != 1 { words += " \(FileWords.decimal(rate))x" }
        switch state {
        case .buffering: words += " buffering"
        case .reconnecting(let attempt, _): words += " reconnecting (\(attempt))"
        default: break
        }
        return words
    }

    static func bar(_ part: Double, _ width: Int) -> String {
        let filled = max(0, min(width, Int((part * Double(width)).rounded())))
        return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    }

    /// `3:07`, or `1:02:03`.
    static func clock(_ seconds: Double) -> String {
        String(FileWords.time(max(0, seconds.rounded(.down))).prefix { $0 != "." })
    }

    /// What is too long ends in an ellipsis.
    static func fit(_ text: String, _ width: Int) -> String {
        text.count <= width ? text : String(text.prefix(max(0, width - 1))) + "…"
    }

    /// Columns of the terminal; 80 where it does not say.
    static var terminalWidth: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 20 else { return 80 }
        return Int(size.ws_col)
    }
}
