// SPDX-License-Identifier: Apache-2.0

/// The keys during playback.
enum PlayKeys {
    enum Action: Equatable {
        case pause, quit, help, status
        /// Seeks by a number of seconds, backwards if negative.
        case seek(Double)
        /// Skips a number of items, backwards if negative.
        case skip(Int)
        /// Changes the volume by a number of decibels.
        case volume(Double)
    }

    static let hint = "Keys: space pause, ← → seek, n p skip, + - volume, s status, ? help, q quit"
    static let help = """
        space  pause or resume        n  next
        ← →    5 s back or on         p  beginning, then previous
        ↓ ↑    60 s back or on        + -  volume by 2 dB
        s      status                 ?  this help
        q      quit
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
        case .character("s"), .character("S"): .status
        case .character("?"), .character("h"): .help
        default: nil
        }
    }
}
