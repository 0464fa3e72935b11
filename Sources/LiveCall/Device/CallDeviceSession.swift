// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession

/// The device of a call on an `AudioSession`, which follows changes of the hardware.
///
/// The microphone may have a separate session, whose device has its own clock.
package final class CallDeviceSession: LiveCallDevice {
    /// The session of the loudspeaker, and of the microphone unless ``input`` has it.
    package let session: AudioSession
    /// The session's device, which stays the same while the hardware changes.
    package let device: any AudioDevice
    /// The session and device of the microphone; nil if ``device`` captures.
    package let input: (session: AudioSession, device: any AudioDevice)?
    /// The callback times of ``device``.
    package let watchdog: CallbackWatchdog
    /// The callback times of ``input``.
    package let inputWatchdog: CallbackWatchdog?
    /// Route changes and interruptions, without the first activation.
    package let events: AsyncStream<AudioSessionEvent>

    private let calibrations: Calibrations
    private let eventEnd: AsyncStream<AudioSessionEvent>.Continuation
    private let listeners: [Task<Void, Never>]

    /// Activates the sessions.
    /// - Parameters:
    ///   - calibrations: the measured delays of devices.
    ///   - input: returns a session that only captures, at the sample rate of the given device; nil if `session` captures.
    package init(
        _ session: AudioSession, calibrations: Calibrations = .none,
        input: ((any AudioDevice) -> AudioSession)? = nil
    ) throws(AudioDeviceError) {
        self.calibrations = calibrations
        (events, eventEnd) = AsyncStream.makeStream()
        self.session = session
        var listeners = [Self.listen(to: session, eventEnd)]
        do throws(AudioDeviceError) {
            device = try session.activate()
            watchdog = CallbackWatchdog(monitor: device.monitor)
            guard let capture = input?(device) else {
                self.input = nil
                inputWatchdog = nil
                self.listeners = listeners
                return
            }
            listeners.append(Self.listen(to: capture, eventEnd))
            let microphone = try capture.activate()
            self.input = (capture, microphone)
            inputWatchdog = CallbackWatchdog(monitor: microphone.monitor)
            self.listeners = listeners
        } catch {
            for listener in listeners { listener.cancel() }
            session.deactivate()
            throw error
        }
    }

    deinit { for listener in listeners { listener.cancel() } }

    private static func listen(
        to session: AudioSession, _ events: AsyncStream<AudioSessionEvent>.Continuation
    ) -> Task<Void, Never> {
        let sessionEvents = session.events()
        return Task {
            for await event in sessionEvents {
                if case .routeChanged(let change) = event, change.reason == .activated { continue }
                events.yield(event)
            }
        }
    }

    /// The current description of the device.
    package var description: CallDevice {
        var description = CallDevice(session, device)
        guard let input else {
            description.delayKnowledge = calibrations.knowledge(of: CalibratedDevice(description))
            return description
        }
        description.inputLatency = input.device.inputLatency
        description.route.input = input.session.currentRoute.input
        description.hasSeparateInput = true
        return description
    }

    /// The reason that the loudspeaker or the microphone is interrupted, and the time since when; nil while both run.
    package var interruption: (kind: Interruption, since: HostTime)? {
        session.interruption ?? input?.session.interruption
    }

    /// Frames per block of the hardware; 0 without hardware.
    package var hardwareBlockFrameCount: Int { session.hardware?.blockFrameCount ?? 0 }

    /// The session of the loudspeaker, and the microphone's separate session if there is one.
    package var sessions: [AudioSession] { [session] + (input.map { [$0.session] } ?? []) }

    /// Moves the sound to other devices, found by name; nil for the system's default. The session opens them on its own thread;
    /// while one cannot be opened, the sound continues on the present ones.
    /// - Throws: `AudioDeviceError.noDevice` without a change.
    package func use(input inputName: String?, output outputName: String?) throws(AudioDeviceError) {
        let devices = session.system.devices
        let microphone = try inputName.map { name throws(AudioDeviceError) in
            try devices.device(named: name, .input).id
        }
        let loudspeaker = try outputName.map { name throws(AudioDeviceError) in
            try devices.device(named: name, .output).id
        }
        var configuration = session.configuration
        configuration.preferredOutput = loudspeaker
        if input == nil { configuration.preferredInput = microphone }
        session.configuration = configuration
        input?.session.configuration.preferredInput = microphone
    }

    /// Does nothing: the sessions are already active.
    package func prepare() {}

    /// Collects the callback times.
    package func update() {
        watchdog.gather()
        inputWatchdog?.gather()
    }

    /// Deactivates the sessions.
    package func close() {
        for listener in listeners { listener.cancel() }
        input?.session.deactivate()
        session.deactivate()
        eventEnd.finish()
    }
}
