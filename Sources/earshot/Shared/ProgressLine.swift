// SPDX-License-Identifier: Apache-2.0

/// A line on a terminal that shows the progress of work, once the work has taken a second.
struct ProgressLine {
    private let start = ContinuousClock.now
    /// The seconds of work at which the line was shown last; nil if never.
    private var lastShown: Double?

    /// Shows a text, at most five times a second.
    mutating func show(_ text: (_ elapsed: Double) -> String) {
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        guard elapsed >= 1, elapsed - (lastShown ?? 0) >= 0.2, Terminal.isInteractive else { return }
        lastShown = elapsed
        Terminal.live(text(elapsed))
    }

    func clear() { if lastShown != nil { Terminal.live("") } }
}
