// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Shows the progress of a rendering on a terminal once the rendering has taken one second.
struct RenderProgress {
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private var lastShownSeconds = 0.8

    init() { start = clock.now }

    mutating func show(_ seconds: Double, of total: Double) {
        guard Terminal.isInteractive else { return }
        let elapsed = (clock.now - start) / .seconds(1)
        guard elapsed - lastShownSeconds >= 0.2 else { return }
        lastShownSeconds = elapsed
        Terminal.live(Self.text(seconds, of: total, elapsed: elapsed))
    }

    static func text(_ seconds: Double, of total: Double, elapsed: Double) -> String {
        let speed = String(format: "%.0f s done, %.1f times real time", seconds, seconds / max(elapsed, 1e-9))
        guard seconds < total else { return "tail  \(speed)" }
        return String(format: "%3.0f %%  ", 100 * seconds / total) + speed
    }

    func clear() { if lastShownSeconds > 0.8 { Terminal.live("") } }
}
