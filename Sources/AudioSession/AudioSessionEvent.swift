// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices

/// A change of the session's route.
public struct RouteChange: Hashable, Sendable, CustomStringConvertible {
    /// The reason, with AVAudioSession's name if it has one.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The session became active.
        case activated
        /// A device that is preferred to the one in use has come, or come back.
        case newDeviceAvailable
        /// The device in use is gone.
        case oldDeviceUnavailable
        /// The program asked for another device.
        case override
        /// The system has another default: somebody chose it.
        case defaultChanged
        /// The sound system came back after it was gone.
        case serverRestarted
        /// The device was opened again, since it had stopped to call or changed its format.
        case deviceRestarted
    }

    /// The reason for the change.
    public var reason: Reason
    /// From where.
    public var previous: AudioRoute
    /// To where.
    public var current: AudioRoute
    /// The time at which the new route's first callback was due.
    public var hostTime: HostTime
    /// Seconds without a call between both.
    public var gap: Double

    /// One line.
    public var description: String {
        let lost = gap > 0 ? ", \(Int((gap * 1e3).rounded())) ms lost" : ""
        return switch reason {
        case .activated: "sound: \(current)"
        case .newDeviceAvailable: "sound moved to \(current): a device came\(lost)"
        case .oldDeviceUnavailable: "sound moved to \(current): \(previous) is gone\(lost)"
        case .override: "sound moved to \(current) as asked\(lost)"
        case .defaultChanged: "sound moved to \(current): it is the default now\(lost)"
        case .serverRestarted: "sound goes on at \(current): the sound system is back\(lost)"
        case .deviceRestarted: "sound goes on at \(current)\(lost)"
        }
    }
}

/// A time in which the session cannot call.
public enum Interruption: Hashable, Sendable, CustomStringConvertible {
    /// The sound system ended; the session waits for it.
    case serverGone
    /// There is no device that the category needs; the session waits for one.
    case noDevice
    /// Another program took the device; the session tries again.
    case deviceTaken(AudioDeviceError)
    /// The device cannot be opened; the session tries again.
    case deviceFailed(AudioDeviceError)
    /// The device stopped to call.
    case stalled
    /// The machine, or this program, slept.
    case suspended

    /// One line.
    public var description: String {
        switch self {
        case .serverGone: "the sound system is gone; waiting for it"
        case .noDevice: "no sound device is left; waiting for one"
        case .deviceTaken(let error), .deviceFailed(let error): error.description
        case .stalled: "the sound device has stopped to call"
        case .suspended: "the machine or this program slept"
        }
    }
}

/// An event of a session.
public enum AudioSessionEvent: Hashable, Sendable, CustomStringConvertible {
    /// Sound goes another way, and runs.
    case routeChanged(RouteChange)
    /// Calls have stopped. ``interruptionEnded(_:seconds:)`` follows when they go on.
    case interruptionBegan(Interruption)
    /// Calls go on after so many seconds.
    case interruptionEnded(Interruption, seconds: Double)
    /// The headphones in use are gone, and the category is one that does not go on without them until
    /// ``AudioSession/resume()``.
    case paused(AudioRoute)

    /// One line.
    public var description: String {
        switch self {
        case .routeChanged(let change): change.description
        case .interruptionBegan(let interruption): "sound interrupted: \(interruption)"
        case .interruptionEnded(_, let seconds):
            "sound goes on after \((seconds * 10).rounded() / 10) s"
        case .paused(let route): "paused: \(route) is gone"
        }
    }
}
