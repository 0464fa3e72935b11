// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Shows the progress of a rendering on a terminal.
struct RenderProgress {
    private var line = ProgressLine()

    mutating func show(_ seconds: Double, of total: Double) {
        line.show { Self.text(seconds, of: total, elapsed: $0) }
    }

    static func text(_ seconds: Double, of total: Double, elapsed: Double) -> String {
        let speed = String(format: "%.0f s done, %.1f times real time", seconds, seconds / max(elapsed, 1e-9))
        guard seconds < total else { return "tail  \(speed)" }
        return String(format: "%3.0f %%  ", 100 * seconds / total) + speed
    }

    func clear() { line.clear() }
}
