// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A sound system that can change a Bluetooth headset to its profile for calls, in which it has a microphone.
package protocol HeadsetMicrophoneSystem: AudioSystem {
    /// Asks for the microphone of a headset until the returned request is ended or released. Any thread except the render thread.
    /// - Parameter id: the ``AudioDeviceDescription/id`` of the headset's output.
    func requestMicrophone(ofHeadset id: String) -> HeadsetMicrophone
}

/// A request for the microphone of a headset. Any thread except the render thread.
package final class HeadsetMicrophone: Sendable {
    private struct State: Sendable {
        var force: (@Sendable () -> Void)?
        var end: (@Sendable () -> Void)?
    }
    private let state: Mutex<State>

    /// - Parameters:
    ///   - force: sets the profile for calls although the session manager did not; called at most once.
    ///   - end: gives the headset back to music; called once, when this object is ended or released.
    package init(force: @escaping @Sendable () -> Void, end: @escaping @Sendable () -> Void) {
        state = Mutex(State(force: force, end: end))
    }

    deinit { end() }

    /// Sets the profile for calls, if the session manager did not. A second call does nothing.
    package func force() {
        let force = state.withLock { state in
            defer { state.force = nil }
            return state.force
        }
        force?()
    }

    /// Ends the request. A second call does nothing.
    package func end() {
        let end = state.withLock { state in
            defer { state = State() }
            return state.end
        }
        end?()
    }
}
