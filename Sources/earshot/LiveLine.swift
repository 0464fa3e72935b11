import Call
import Foundation

/// How the call stands, in one line: five times a second on a terminal, every five seconds elsewhere.
struct LiveLine {
    let isPlain: Bool
    private var shown = -1.0

    init(isPlain: Bool) { self.isPlain = isPlain }

    mutating func show(_ statistics: CallStatistics, elapsed: Double, of duration: Double?) {
        guard elapsed - shown >= (isPlain ? 5 : 0.2) else { return }
        shown = elapsed
        let line = Self.text(statistics, elapsed: elapsed, of: duration)
        if isPlain { Terminal.say(line) } else { Terminal.live(line) }
    }

    static func text(_ statistics: CallStatistics, elapsed: Double, of duration: Double?) -> String {
        let time = duration.map { String(format: "%3.0f/%.0f s", elapsed, $0) } ?? String(format: "%3.0f s", elapsed)
        let rtp = statistics.media.rtp
        let playout = statistics.playout
        let delay =
            statistics.mouthToEar.map { String(format: "delay %.1f ms", $0 * 1e3) }
            ?? (playout.isStarted ? String(format: "playout %.1f ms", playout.delay * 1e3) : "waiting for sound")
        let lost = max(0, rtp.packetsMissing)
        let share = rtp.packetsExpected > 0 ? 100 * Double(lost) / Double(rtp.packetsExpected) : 0
        return String(
            format: "%@  me %@  peer %@  %@  lost %d (%.1f %%)  late %d", time, meter(statistics.levels.spokenPeak),
            meter(statistics.levels.heardPeak), delay, lost, share, playout.latePackets)
    }

    /// Ten steps of 6 dB below full scale, and a mark for clipping.
    static func meter(_ peak: Float) -> String {
        let steps = peak <= 0 ? 0 : max(0, min(10, Int((20 * log10(Double(peak)) + 60) / 6)))
        return "[" + String(repeating: "#", count: steps) + String(repeating: "-", count: 10 - steps)
            + (peak >= 1 ? "!" : "]")
    }
}
