// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices

/// Decides when a Bluetooth headset should have its profile for calls, without a clock or a device.
///
/// The session manager is asked first. If it does nothing, the profile is set once. A headset that goes back to music during a
/// call, or that has no such profile, is reported and not asked again until another device was in use, so that there is no loop.
struct HeadsetSwitch: Sendable {
    /// An action for the session's thread.
    enum Action: Hashable, Sendable {
        /// Asks for the microphone of the headset with this output.
        case request(String)
        /// Sets the profile of the requested headset.
        case force
        /// Ends the request.
        case release
        /// Reports that the headset's microphone cannot be used.
        case fail(AudioDeviceDescription)
    }

    private enum Step: Hashable {
        case requested(since: HostTime)
        case forced(since: HostTime)
        case done
        case failed
    }

    /// Seconds to wait for a change of the profile.
    static let limit = 3.0

    private var headset: (id: String, step: Step)?

    /// Returns the actions for the output in use.
    /// - Parameters:
    ///   - output: the output in use; nil for none.
    ///   - isWanted: true if the session captures, and no other microphone is preferred.
    mutating func update(
        _ output: AudioDeviceDescription?, isWanted: Bool, at now: HostTime
    ) -> [Action] {
        guard isWanted, let output, let profile = output.headsetProfile else { return leave() }
        guard let known = headset, known.id == output.id else {
            let actions = leave()
            return actions + begin(output, profile, now)
        }
        switch (profile, known.step) {
        case (.call, .requested), (.call, .forced):
            headset?.step = .done
            return []
        case (.music, .requested(let since)) where now.seconds(since: since) >= Self.limit:
            headset?.step = .forced(since: now)
            return [.force]
        case (.music, .forced(let since)) where now.seconds(since: since) >= Self.limit:
            headset?.step = .failed
            return [.release, .fail(output)]
        case (.music, .done):
            headset?.step = .failed
            return [.release, .fail(output)]
        default: return []
        }
    }

    /// True while a change of the profile is awaited.
    var isChanging: Bool {
        switch headset?.step {
        case .requested, .forced: true
        case .done, .failed, nil: false
        }
    }

    private mutating func begin(
        _ output: AudioDeviceDescription, _ profile: AudioDeviceDescription.HeadsetProfile, _ now: HostTime
    ) -> [Action] {
        switch profile {
        case .music(hasCallProfile: false):
            headset = (output.id, .failed)
            return [.fail(output)]
        case .music(hasCallProfile: true):
            headset = (output.id, .requested(since: now))
            return [.request(output.id)]
        case .call:
            // The request keeps the session manager from going back to music.
            headset = (output.id, .done)
            return [.request(output.id)]
        }
    }

    private mutating func leave() -> [Action] {
        guard let step = headset?.step else { return [] }
        headset = nil
        return step == .failed ? [] : [.release]
    }
}
