// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The progress of a rendering on a terminal, from its second second on.
struct RenderProgress {
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private var shown = 0.8

    init() { start = clock.now }

    mutating func show(_ seconds: Double, of total: Double) {
        guard Terminal.isInteractive else { return }
        let elapsed = (clock.now - start) / .seconds(1)
        guard elapsed - shown >= 0.2 else { return }
        shown = elapsed
        Terminal.live(Self.text(seconds, of: total, elapsed: elapsed))
    }

    static func text(_ seconds: Double, of total: Double, elapsed: Double) -> String {
        let speed = String(format: "%.0f s, %.1f times real time", seconds, seconds / max(elapsed, 1e-9))
        guard seconds < total else { return "tail  \(speed)" }
        return String(format: "%3.0f %%  ", 100 * seconds / total) + speed
    }

    func clear() { if shown > 0.8 { Terminal.live("") } }
}
