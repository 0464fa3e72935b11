// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDiagnostics
import Foundation

/// Prints the state of a loopback.
struct LoopbackPresenter {
    private var status = StatusLine()
    private var presentedLatency: ReportedLatency?
    private var presentedAt = HostTime(nanoseconds: 0)
    private var presentedHowlCount = 0

    /// Prints the route once, and the reported delay whenever it has changed. Prints at most once a second, since the delays that
    /// an audio server reports settle only after its start.
    mutating func presentLatency(_ stated: ReportedLatency, _ card: LoopbackCard, now: HostTime) {
        if let presentedLatency,
            abs(presentedLatency.total - stated.total) < 1e-4 || now.seconds(since: presentedAt) < 1
        {
            return
        }
        if presentedLatency == nil { Terminal.say(card.summary) }
        presentedLatency = stated
        presentedAt = now
        Terminal.say(
            String(
                format: "Reported delay: %.2f ms mouth to ear (input %.2f, output %.2f, extra %.2f)",
                stated.total * 1e3,
                stated.input * 1e3, stated.output * 1e3, stated.extra * 1e3))
    }

    mutating func presentHowls(_ loopback: Loopback) {
        guard loopback.howlCount > presentedHowlCount else { return }
        presentedHowlCount = loopback.howlCount
        let decibels = 20 * log10(max(1e-6, Double(loopback.howlReduction)))
        Terminal.warn(
            String(
                format: "Feedback: output lowered by %.0f dB. Use headphones or a lower --gain.", -decibels))
    }

    func notify(_ result: Result<RoundTrip, RoundTripError>, _ stated: ReportedLatency) {
        switch result {
        case .success(let found):
            Terminal.say(
                String(
                    format: "Probe: %.3f ms (%.2f frames), %.1f dB, confidence %.2f", found.seconds * 1e3, found.frames,
                    Self.level(found.levelDecibels), found.confidence))
        case .failure(.noLoop), .failure(.silent): Terminal.say("Probe: no signal returned.")
        case .failure(let error): Terminal.say("Probe: \(ErrorText.text(error))")
        }
    }

    /// Rounds decibels to a tenth, and avoids a negative zero.
    private static func level(_ decibels: Double) -> Double { (decibels * 10).rounded() / 10 + 0 }

    func notify(_ found: RoundTripMeasurement, _ stated: ReportedLatency) {
        let loop = String(
            format: "%.1f dB, %@, spread %.3f ms", Self.level(found.levelDecibels),
            found.isInverted ? "polarity inverted" : "polarity kept", found.spread * 1e3)
        Terminal.say(
            String(
                format: "Measured: %.3f ms round trip, reported %.3f, difference %+.3f ms (%@)", found.seconds * 1e3,
                stated.roundTrip * 1e3, (found.seconds - stated.roundTrip) * 1e3, loop))
        guard stated.extra > 0 else { return }
        Terminal.say(
            String(format: "With the additional delay: %.3f ms mouth to ear", (found.seconds + stated.extra) * 1e3))
    }

    /// Makes the next status line due at once.
    mutating func ask() { status.ask() }

    /// Prints the status line with levels and delay, if a line is due.
    mutating func show(_ levels: LoopbackLevels, _ stated: ReportedLatency, elapsed: Double, of duration: Double?) {
        guard status.isDue(at: elapsed) else { return }
        let time = duration.map { String(format: "%3.0f/%.0f s", elapsed, $0) } ?? String(format: "%3.0f s", elapsed)
        StatusLine.show(
            String(
                format: "%@  in %@  out %@  delay %.1f ms", time, StatusLine.meter(levels.inputPeak),
                StatusLine.meter(levels.outputPeak), stated.total * 1e3))
    }
}
