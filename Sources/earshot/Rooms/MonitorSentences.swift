// SPDX-License-Identifier: Apache-2.0

import EarshotAudioSession
import EarshotCall
import EarshotLiveCall

/// The sentences about the monitor and push to talk.
enum MonitorSentences {
    static let unavailable = "You cannot hear yourself: the microphone is a separate device. Omit --separate-input."

    /// Returns the state and its reason: `Monitor: on (headset, round trip 8.2 ms)`.
    static func text(_ monitor: MonitorDocument) -> String {
        let state = monitor.state ?? monitor.mode ?? ""
        return "Monitor: \(state)\(monitor.reason.map { " (\($0))" } ?? "")"
    }

    /// Returns the sentence about a mode that waits for the sound, which has not begun.
    static func awaited(_ mode: MonitorMode) -> String {
        "Monitor: \(mode.rawValue), as soon as another participant is in the room"
    }

    /// Returns the warning for a route on which a monitor that is on feeds back; nil for any other.
    static func warning(on route: AudioRoute?, hasKeys: Bool) -> String? {
        guard route?.output?.form == .speaker else { return nil }
        return "You hear yourself on a loudspeaker, which may feed back. Use headphones, or turn the monitor off: "
            + (hasKeys ? "o" : "earshot call monitor off")
    }

    /// Returns the sentence about the beginning or the end of push to talk.
    static func pushToTalk(_ isOn: Bool, hasKeys: Bool) -> String {
        guard isOn else { return "Push to talk: off" }
        return "Push to talk: on. "
            + (hasKeys ? "Hold Space to talk. t ends it." : "You are muted until: earshot call unmute")
    }
}
