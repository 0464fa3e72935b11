// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices

/// A change of the session's route.
public struct RouteChange: Hashable, Sendable, CustomStringConvertible {
    /// The reason, with AVAudioSession's name where it has one.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The session became active.
        case activated
        /// A device appeared or returned that is preferred to the one in use.
        case newDeviceAvailable
        /// The device in use is no longer available.
        case oldDeviceUnavailable
        /// The program chose another device, or began or ended the exclusive use of the device.
        case override
        /// The user chose another default device of the system.
        case defaultChanged
        /// The sound system returned after an interruption.
        case serverRestarted
        /// The device was opened again because its callbacks had stopped or its format had changed.
        case deviceRestarted
        /// The same devices are used through other ports, such as the loudspeaker instead of headphones that are still plugged
        /// in, or a headset has changed between music and calls.
        case routeConfigurationChange
    }

    /// The reason for the change.
    public var reason: Reason
    /// The route before the change.
    public var previous: AudioRoute
    /// The route after the change.
    public var current: AudioRoute
    /// The time at which the new route's first callback was due; the time of the change if no callbacks are wanted.
    public var hostTime: HostTime
    /// The seconds without callbacks during the change.
    public var gap: Double

    /// One line for a log.
    public var description: String {
        let lost = gap > 0 ? ", \(Int((gap * 1e3).rounded())) ms lost" : ""
        return switch reason {
        case .activated: "sound: \(current)"
        case .newDeviceAvailable where isPortChange: "sound moved to the \(port): plugged in\(lost)"
        case .oldDeviceUnavailable where isPortChange:
            "sound moved to the \(port): \(previous.output?.form.rawValue ?? "device") unplugged\(lost)"
        case .routeConfigurationChange: "sound continues on the \(port)\(lost)"
        case .newDeviceAvailable: "sound moved to \(current): a device came\(lost)"
        case .oldDeviceUnavailable: "sound moved to \(current): \(previous) is gone\(lost)"
        case .override: "sound moved to \(current) as asked\(lost)"
        case .defaultChanged: "sound moved to \(current): it is the default now\(lost)"
        case .serverRestarted: "sound continues on \(current): the sound system is back\(lost)"
        case .deviceRestarted: "sound continues on \(current)\(lost)"
        }
    }

    /// True if the devices are the same.
    private var isPortChange: Bool {
        !current.isEmpty && previous.input?.id == current.input?.id && previous.output?.id == current.output?.id
    }

    /// The form and the name of the current output, or of the input without one: "headphones of Built-in Audio".
    private var port: String {
        guard let device = current.output ?? current.input else { return "\(current)" }
        return "\(device.form == .unknown ? "device" : device.form.rawValue) of \(device.name)"
    }
}

/// A reason for which the session has no callbacks.
public enum Interruption: Hashable, Sendable, CustomStringConvertible {
    /// The sound system has ended; the session waits for it.
    case serverGone
    /// There is no device for any direction of the category; the session waits for one.
    case noDevice
    /// Another program uses the device; the session tries again.
    case deviceTaken(AudioDeviceError)
    /// The device cannot be opened; the session tries again.
    case deviceFailed(AudioDeviceError)
    /// The device's callbacks have stopped.
    case stalled
    /// The machine was asleep, or this process was stopped.
    case suspended

    /// One line for a log.
    public var description: String {
        switch self {
        case .serverGone: "the audio system stopped; waiting for it"
        case .noDevice: "no audio device is left; waiting for one"
        case .deviceTaken(let error), .deviceFailed(let error): error.description
        case .stalled: "the audio device stopped calling back"
        case .suspended: "the machine or this program slept"
        }
    }
}

/// An event of a session.
public enum AudioSessionEvent: Hashable, Sendable, CustomStringConvertible {
    /// The sound has moved to another route, which is running.
    case routeChanged(RouteChange)
    /// The callbacks have stopped. ``interruptionEnded(_:seconds:)`` follows when they continue.
    case interruptionBegan(Interruption)
    /// The callbacks continue after an interruption of this many seconds.
    case interruptionEnded(Interruption, seconds: Double)
    /// A wanted device cannot be opened. The sound continues on the present one; the session tries again.
    case deviceUnavailable(AudioDeviceError)
    /// The headphones were unplugged, and the session is paused until ``AudioSession/resume()``.
    case paused(AudioRoute)
    /// The session captures and plays on a Bluetooth headset, but the headset stays in music mode, without its microphone.
    case headsetMicrophoneUnavailable(AudioDeviceDescription)

    /// One line for a log.
    public var description: String {
        switch self {
        case .routeChanged(let change): change.description
        case .interruptionBegan(let interruption): "sound interrupted: \(interruption)"
        case .interruptionEnded(_, let seconds):
            "sound continues after \((seconds * 10).rounded() / 10) s"
        case .deviceUnavailable(let error): "cannot move the sound: \(error)"
        case .headsetMicrophoneUnavailable(let headset):
            "\(headset.name) stays in music mode, without its microphone"
        case .paused(let route):
            route.output?.port == nil
                ? "paused: \(route) is gone"
                : "paused: \(route.output?.form.rawValue ?? "device") of \(route.output?.name ?? "") unplugged"
        }
    }
}
