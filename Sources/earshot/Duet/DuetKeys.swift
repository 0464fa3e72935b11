// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall

/// Converts keys to orders for a duet.
enum DuetKeys {
    /// The seconds of a step, as in `earshot play`.
    private static let seekStep = 5.0

    static let help = """
        Enter  agree, or withdraw; after the song: listen to the mix together, or stop it for all
        p  pause or resume                ← →  seek 5 s back or forward
        r  sing again: a new take
        """

    /// Returns true if a key is never one of the call while there is a song: `r` would end the recording of the take.
    static func owns(_ key: Key, _ status: LiveDuetStatus) -> Bool {
        status.duet.song != nil && [.character("r"), .character("R")].contains(key)
    }

    /// Returns the order of a key; nil for a key that is not about the duet now.
    static func order(for key: Key, _ status: LiveDuetStatus) -> DuetOrder? {
        let duet = status.duet
        switch (key, duet.phase) {
        case (.enter, .agreeing) where !duet.singers.isEmpty || duet.hasAgreed: return .agree(!duet.hasAgreed)
        case (.enter, .ended) where status.mixPath != nil: return .listen(true)
        case (.enter, .listening): return .listen(false)
        case (.character("p"), .singing), (.character("p"), .counting): return .pause
        case (.character("p"), .paused): return .resume
        case (.left, .singing), (.left, .paused): return .seek(to: max(0, duet.position - seekStep))
        case (.right, .singing), (.right, .paused): return .seek(to: duet.position + seekStep)
        case (.character("r"), .counting), (.character("r"), .singing), (.character("r"), .paused),
            (.character("r"), .ended), (.character("r"), .listening):
            return .singAgain
        case (.character("r"), .agreeing) where duet.hasLeft: return .singAgain
        default: return nil
        }
    }

    /// Returns the sentence for a key that does nothing now; nil for any other key.
    static func answer(to key: Key, _ status: LiveDuetStatus) -> String? {
        switch (key, status.duet.phase) {
        case (.enter, .agreeing) where status.duet.singers.isEmpty: "Nobody else is here yet."
        case (.character("p"), .listening), (.left, .listening), (.right, .listening):
            "The mix cannot be paused or moved. Enter stops it for all."
        default: nil
        }
    }
}
