// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The key that is held down to talk. A terminal reports no release of a key: it repeats a key that is held.
struct TalkKey {
    /// The seconds of talking after a press. The first repeat comes up to 0.6 s after it.
    static let pressTime = 0.7
    /// The seconds of talking after a repeat. The next one comes after up to 0.1 s; two may be lost.
    static let repeatTime = 0.3
    /// The seconds from the last press within which a press is a repeat. Nobody presses a key so fast.
    static let repeatInterval = 0.15

    private var lastPress: HostTime?
    private var end: HostTime?

    /// Handles a press or a repeat of the key.
    mutating func press(at now: HostTime) {
        let isRepeat = lastPress.map { now.seconds(since: $0) <= Self.repeatInterval } ?? false
        let newEnd = now.advanced(bySeconds: isRepeat ? Self.repeatTime : Self.pressTime)
        end = end.map { max($0, newEnd) } ?? newEnd
        lastPress = now
    }

    /// True while the key is held, as far as the terminal shows.
    func isHeld(at now: HostTime) -> Bool { end.map { now < $0 } ?? false }

    /// Returns true once after the key was released.
    mutating func takeRelease(at now: HostTime) -> Bool {
        guard end != nil, !isHeld(at: now) else { return false }
        (lastPress, end) = (nil, nil)
        return true
    }
}
