// SPDX-License-Identifier: Apache-2.0

/// The keys while something plays.
enum PlayKeys {
    enum Action: Equatable {
        case pause, quit, help
        /// Seconds.
        case seek(Double)
        /// Items.
        case skip(Int)
        /// Decibels.
        case volume(Double)
    }

    static let hint = "keys: space pauses, ← → seek, n and p skip, + - volume, ? help, q ends"
    static let help = """
        space  pause, go on           n  next
        ← →    5 s back, on           p  to the beginning, then the previous
        ↓ ↑    60 s back, on          + -  volume, 2 dB
        ?      this                   q  end
        """

    static func action(_ key: Key) -> Action? {
        switch key {
        case .character(" "): .pause
        case .left: .seek(-5)
        case .right: .seek(5)
        case .down, .character("["), .pageDown: .seek(-60)
        case .up, .character("]"), .pageUp: .seek(60)
        case .character("n"), .character(">"): .skip(1)
        case .character("p"), .character("<"): .skip(-1)
        case .character("+"), .character("="): .volume(2)
        case .character("-"), .character("_"): .volume(-2)
        case .character("q"), .character("Q"): .quit
        case .character("?"), .character("h"): .help
        default: nil
        }
    }
}
