// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotLiveCall

/// Converts keys to commands about the user's own voice: mute, push to talk and monitor.
struct RoomVoiceKeys {
    private var talkKey = TalkKey()

    /// Handles a key. Returns nil if nothing changes.
    mutating func take(_ key: Key, _ snapshot: LiveCallSnapshot, at now: HostTime) -> RoomKeyBindings.Action? {
        switch key {
        case .character("m"), .character("M"): return .perform(.setMuted(!snapshot.isMuted))
        case .character(" "): return space(snapshot, at: now)
        case .character("t"), .character("T"): return .perform(.setPushToTalk(!snapshot.isPushToTalk))
        case .character("o"), .character("O"): return changeMonitor(snapshot)
        default: return nil
        }
    }

    /// Talks during push to talk; otherwise mutes or unmutes.
    private mutating func space(_ snapshot: LiveCallSnapshot, at now: HostTime) -> RoomKeyBindings.Action? {
        // Push to talk may end while the key is held. Its repeats do not mute and unmute.
        guard snapshot.isPushToTalk || talkKey.isHeld(at: now) else { return .perform(.setMuted(!snapshot.isMuted)) }
        talkKey.press(at: now)
        return snapshot.isPushToTalk && snapshot.isMuted ? .perform(.setMuted(false)) : nil
    }

    /// Returns the command that ends talking after the key was released; nil otherwise.
    mutating func release(_ snapshot: LiveCallSnapshot, at now: HostTime) -> RoomKeyBindings.Action? {
        guard talkKey.takeRelease(at: now), snapshot.isPushToTalk, !snapshot.isMuted else { return nil }
        return .perform(.setMuted(true))
    }

    /// The first press is heard, whatever the automatic choice is: on becomes off, and off becomes on. Off is followed by auto.
    private func changeMonitor(_ snapshot: LiveCallSnapshot) -> RoomKeyBindings.Action {
        if snapshot.availability(of: .setMonitor) == .unavailable(.noMonitor) {
            return .say(MonitorSentences.unavailable)
        }
        switch snapshot.monitorMode {
        case .auto: return .perform(.setMonitor(snapshot.monitor?.isOn == true ? .off : .on))
        case .on, .equal: return .perform(.setMonitor(.off))
        case .off: return .perform(.setMonitor(.auto))
        }
    }
}
