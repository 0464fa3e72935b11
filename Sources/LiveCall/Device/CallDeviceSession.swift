import AudioBase
import AudioDevices
import AudioSession

/// The device of a call on an `AudioSession`, which follows the hardware as it comes and goes.
///
/// The microphone may have a session of its own: a device with a clock of its own.
public final class CallDeviceSession: LiveCallDevice {
    /// The session of the loudspeaker, and of the microphone unless ``input`` has it.
    public let session: AudioSession
    /// The device. It stays while the hardware behind it changes.
    public let device: any AudioDevice
    /// The session and device of the microphone; nil if ``device`` captures.
    public let input: (session: AudioSession, device: any AudioDevice)?
    /// The callback times of ``device``.
    public let watchdog: CallbackWatchdog
    /// The callback times of ``input``.
    public let inputWatchdog: CallbackWatchdog?
    /// Route changes and interruptions, without the first activation.
    public let events: AsyncStream<(AudioSessionEvent, CallDevice)>

    private let eventEnd: AsyncStream<(AudioSessionEvent, CallDevice)>.Continuation
    private let listeners: [Task<Void, Never>]

    /// Activates the sessions.
    /// - Parameter input: a session that only captures, made for the rate of the device of `session`.
    public init(
        _ session: AudioSession, input: ((any AudioDevice) -> AudioSession)? = nil
    ) throws(AudioDeviceError) {
        (events, eventEnd) = AsyncStream.makeStream()
        self.session = session
        let listener = Self.listen(to: session, eventEnd)
        device = try session.activate()
        watchdog = CallbackWatchdog(monitor: device.monitor)
        guard let capture = input?(device) else {
            self.input = nil
            inputWatchdog = nil
            listeners = [listener]
            return
        }
        listeners = [listener, Self.listen(to: capture, eventEnd)]
        let microphone = try capture.activate()
        self.input = (capture, microphone)
        inputWatchdog = CallbackWatchdog(monitor: microphone.monitor)
    }

    private static func listen(
        to session: AudioSession, _ events: AsyncStream<(AudioSessionEvent, CallDevice)>.Continuation
    ) -> Task<Void, Never> {
        let news = session.events()
        return Task {
            for await event in news {
                if case .routeChanged(let change) = event, change.reason == .activated { continue }
                guard let device = session.device else { continue }
                events.yield((event, CallDevice(session, device)))
            }
        }
    }

    /// The present description.
    public var description: CallDevice {
        var description = CallDevice(session, device)
        guard let input else { return description }
        description.inputLatency = input.device.inputLatency
        description.route.input = input.session.currentRoute.input
        description.hasSeparateInput = true
        return description
    }

    /// The reason why a side does not run, and since when.
    public var interruption: (kind: Interruption, since: HostTime)? {
        session.interruption ?? input?.session.interruption
    }

    /// Frames per block of the hardware.
    public var hardwareBlockFrameCount: Int { session.hardware?.blockFrameCount ?? 0 }

    /// Both sessions.
    public var sessions: [AudioSession] { [session] + (input.map { [$0.session] } ?? []) }

    /// Does nothing.
    public func prepare() {}

    /// Gathers the callback times.
    public func update() {
        watchdog.gather()
        inputWatchdog?.gather()
    }

    /// Deactivates the sessions.
    public func close() {
        for listener in listeners { listener.cancel() }
        input?.session.deactivate()
        session.deactivate()
        eventEnd.finish()
    }
}
