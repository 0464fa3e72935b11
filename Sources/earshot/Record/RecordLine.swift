// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The status line of a recording.
struct RecordLine {
    enum State { case recording, paused, standby }

    var state = State.recording
    /// The recorded seconds, without pauses.
    var elapsed = 0.0
    /// The requested seconds; nil for no limit.
    var duration: Double?
    var peak: Float = 0
    var bytes = 0
    /// The number of lost frames.
    var lost = 0
    /// The number of the part that is being written; nil without `--split`.
    var part: Int?
    /// The reason that no sound is captured at the moment; nil while sound is captured.
    var interruption: String?

    /// - Parameter hasColour: true on a terminal with colours.
    func text(hasColour: Bool) -> String {
        let (sign, colour) =
            switch state {
            case .recording: ("●", 31)
            case .paused: ("‖", 33)
            case .standby: ("○", 33)
            }
        return (hasColour ? "\u{1B}[\(colour)m\(sign)\u{1B}[0m" : sign) + " " + summary
    }

    /// The status line without the sign for the state at its beginning.
    var summary: String {
        let time = Self.clock(elapsed) + (duration.map { "/" + Self.clock($0) } ?? "")
        let level = peak > 0 ? String(format: "%5.1f dB", max(-99.9, 20 * log10(Double(peak)))) : " -inf dB"
        var line = "\(time)  \(StatusLine.meter(peak)) \(level)  \(FileFormatting.size(bytes))"
        if let part { line += "  part \(part)" }
        if lost > 0 { line += "  \(lost) frames lost" }
        switch state {
        case .recording: break
        case .paused: line += "  paused"
        case .standby: line += "  standing by"
        }
        if let interruption { line += "  no audio: \(interruption)" }
        return line
    }

    private static func clock(_ seconds: Double) -> String {
        String(FileFormatting.time((seconds * 10).rounded(.down) / 10).dropLast(2))
    }
}
