// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall

/// Converts keys to orders for a duet.
enum DuetKeys {
    /// The seconds of a step, as in `earshot play`.
    private static let seekStep = 5.0

    static let help = """
        Enter  agree to sing, or no longer; afterwards: listen to the mix together
        p  pause, or go on                ← →  5 s back or on
        r  sing again: a new take
        """

    /// Returns the order of a key; nil for a key that is not about the duet now.
    static func order(for key: Key, _ status: LiveDuetStatus) -> DuetOrder? {
        let duet = status.duet
        switch (key, duet.phase) {
        case (.enter, .agreeing): return .agree(!duet.hasAgreed)
        case (.enter, .ended) where status.mixPath != nil: return .listen(true)
        case (.enter, .listening): return .listen(false)
        case (.character("p"), .singing), (.character("p"), .counting): return .pause
        case (.character("p"), .paused): return .resume
        case (.left, .singing), (.left, .paused): return .seek(to: max(0, duet.position - seekStep))
        case (.right, .singing), (.right, .paused): return .seek(to: duet.position + seekStep)
        case (.character("r"), .singing), (.character("r"), .paused), (.character("r"), .ended),
            (.character("r"), .listening):
            return .singAgain
        default: return nil
        }
    }
}
