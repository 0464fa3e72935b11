// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Foundation
import Synchronization

/// Keeps a program's sound running while devices come, go and are taken by other programs, and tells the program of each change.
/// AVAudioSession's counterpart on Linux.
///
/// ``activate()`` returns an `AudioDevice` that stays the same while the hardware behind it changes: whatever runs on it moves to
/// the new route and continues by itself. All members may be used on any thread except the render thread.
public final class AudioSession: Sendable {
    /// The sound system whose devices are used.
    public let system: any AudioSystem

    private struct State {
        var configuration: Configuration
        var worker: SessionWorker?
        var device: SessionDevice?
        var isActive = false
    }
    private let state: Mutex<State>
    private let broadcast = Broadcast<AudioSessionEvent>()
    private let others: OtherSound
    private let turn = NSLock()  // one activation or end at a time
    private let settledInterval: Int
    private let clock: SessionClock

    /// Creates an inactive session.
    public convenience init(_ system: any AudioSystem, _ configuration: Configuration = Configuration()) {
        self.init(system, configuration, players: .shared)
    }

    /// - Parameters:
    ///   - players: the media players to pause.
    ///   - settledInterval: the milliseconds between two inspections of the devices while nothing changes.
    ///   - clock: the time of the session's thread.
    init(
        _ system: any AudioSystem, _ configuration: Configuration, players: MPRISPlayers,
        settledInterval: Int = SessionWorker.Interval.settled, clock: SessionClock = .machine
    ) {
        self.system = system
        self.clock = clock
        self.settledInterval = settledInterval
        others = OtherSound(system, players)
        state = Mutex(State(configuration: configuration))
    }

    deinit { deactivate() }

    /// The settings. In an active session a change of the preferred devices and of ``Configuration/otherAudio`` takes effect at
    /// once; block length and channel maps apply from the next opened device on. The sample rate and the channel counts stay as
    /// they were at the first activation. The setter waits for media players as ``activate()`` does.
    public var configuration: Configuration {
        get { state.withLock { $0.configuration } }
        set {
            let worker = state.withLock { state in
                state.configuration = newValue
                return state.isActive ? state.worker : nil
            }
            worker?.configure(newValue)
            updateOthers()
        }
    }

    /// Opens the devices. From then on the session responds to their changes. With ``OtherAudio/pause`` this method waits until
    /// the media players have answered, for two seconds at most.
    /// - Returns: the session's device, the same at each activation.
    /// - Throws: the errors of opening devices, and ``AudioDevices/AudioDeviceError/noDefaultDevice(_:)``.
    @discardableResult
    public func activate() throws(AudioDeviceError) -> any AudioDevice {
        turn.lock()
        defer { turn.unlock() }
        if let device = state.withLock({ $0.isActive ? $0.device : nil }) { return device }
        if let failure = system.failure { throw failure }
        let (configuration, kept) = state.withLock { ($0.configuration, $0.device) }
        let devices = system.devices
        guard let choice = RoutePolicy(configuration: configuration).choice(among: devices) else {
            throw .noDefaultDevice(configuration.category == .record ? .input : .output)
        }
        let monitor = kept?.monitor ?? CallbackMonitor(sampleRate: configuration.preferredSampleRate ?? 48_000)
        var request = configuration.request(choice, devices, kept)
        request.monitor = monitor
        let hardware = try system.open(request)
        let device =
            kept
            ?? SessionDevice(
                sampleRate: hardware.sampleRate, inputChannelCount: configuration.effectiveInputCount,
                outputChannelCount: configuration.effectiveOutputCount, monitor: monitor)
        try device.replace(with: hardware)
        let worker = SessionWorker(
            configuration, system: system, device: device, broadcast: broadcast, settledInterval: settledInterval,
            clock: clock)
        worker.adopt(
            choice,
            AudioRoute(
                input: devices.first { $0.id == choice.input }, output: devices.first { $0.id == choice.output }))
        do throws(AudioDeviceError) {
            try worker.start()
        } catch {
            device.close()
            throw error
        }
        let latest = state.withLock { state in
            state.device = device
            state.worker = worker
            state.isActive = true
            return state.configuration
        }
        if latest != configuration { worker.configure(latest) }
        updateOthers()
        return device
    }

    /// Closes the devices. The session's client gets no more callbacks until the next activation. Other programs' sound is
    /// restored; media players that were asked to pause are asked to play again.
    public func deactivate() {
        turn.lock()
        defer { turn.unlock() }
        let (worker, device) = state.withLock { state in
            defer { state.isActive = false }
            return state.isActive ? (state.worker, state.device) : (nil, nil)
        }
        worker?.stop()
        device?.close()
        updateOthers()
    }

    private func updateOthers() {
        others.update { state.withLock { $0.isActive ? $0.configuration.otherAudio : .mix } }
    }

    /// The permission to record from the input that the session uses or would use, found without opening it. May take some
    /// milliseconds.
    public var recordPermission: RecordPermission {
        let choice = RoutePolicy(configuration: configuration).choice(among: system.devices)
        return system.recordPermission(ofInput: choice?.input)
    }

    /// Continues after a pause, on the devices that are present now.
    public func resume() { active?.resume() }

    /// Returns a stream of the session's events from now on.
    public func events() -> AsyncStream<AudioSessionEvent> { broadcast.stream() }

    /// The devices in use; empty if there are none.
    public var currentRoute: AudioRoute { active?.route ?? AudioRoute() }
    /// The last change of the route since the latest activation, with the reason for the change; nil if there was none.
    public var lastRouteChange: RouteChange? { worker?.lastChange }
    /// The reason that the active session has no callbacks, and the time since when; nil if it is not interrupted or not active.
    public var interruption: (kind: Interruption, since: HostTime)? { active?.interruption }
    /// True if the session is paused until ``resume()``.
    public var isPaused: Bool { active?.isPaused ?? false }
    /// The last events since the latest activation, at most 100. They are kept after deactivation.
    package var history: [AudioSessionEvent] { worker?.history ?? [] }
    /// The device that ``activate()`` returned; nil before the first activation.
    public var device: (any AudioDevice)? { state.withLock { $0.device } }
    /// The open hardware device; nil if there is none.
    package var hardware: (any AudioDevice)? { state.withLock { $0.device }?.hardware }
    /// The frames at the session's rate that were lost during changes of the device.
    public var lostFrameCount: Int { state.withLock { $0.device }?.lostFrameCount ?? 0 }

    /// Does the work of the session's thread in a simulation. Returns the milliseconds until the next inspection; nil if the
    /// session is not active.
    func inspectDevices() -> Int? { active?.inspectDevices() }

    /// The number of inspections of the devices by the session's thread since the last activation.
    var inspectionCount: Int { worker?.inspectionCount ?? 0 }
    private var worker: SessionWorker? { state.withLock { $0.worker } }
    private var active: SessionWorker? { state.withLock { $0.isActive ? $0.worker : nil } }
}

extension AudioSession.Configuration {
    /// Returns the request to open a route.
    /// - Parameter device: the session's device once it exists; gives the request its monitor and its rate.
    func request(
        _ choice: RouteChoice, _ devices: [AudioDeviceDescription], _ device: SessionDevice?
    ) -> AudioDeviceRequest {
        var request = AudioDeviceRequest()
        request.clientName = clientName
        request.input = choice.input.map { .device(id: $0) } ?? .none
        request.output = choice.output.map { .device(id: $0) } ?? .none
        request.blockFrameCount = preferredBlockFrameCount
        request.ioDuration = preferredIOBufferDuration
        request.isExclusive = otherAudio == .exclude
        request.inputChannelMap = inputChannelMap
        request.outputChannelMap = outputChannelMap
        // The session adds channels that the device lacks. With a channel map the user chooses the device's channels.
        let (from, to) = (devices.first { $0.id == choice.input }, devices.first { $0.id == choice.output })
        request.inputChannelCount =
            choice.input == nil
            ? 0 : inputChannelMap?.count ?? min(effectiveInputCount, from?.inputChannelCount ?? 1)
        request.outputChannelCount =
            choice.output == nil
            ? 0 : outputChannelMap?.count ?? min(effectiveOutputCount, to?.outputChannelCount ?? 2)
        request.monitor = device?.monitor
        if let device {
            // Once there is a session device, the rate and the block are only preferences: a route with others is better than
            // none.
            let isOffered = [from, to].allSatisfy { $0?.sampleRates.contains(device.sampleRate) ?? true }
            request.sampleRate = isOffered ? device.sampleRate : nil
            if let block = preferredBlockFrameCount,
                ![from, to].allSatisfy({ $0?.blockFrameCounts.contains(block) ?? true })
            {
                request.blockFrameCount = nil
            }
        } else {
            request.sampleRate = preferredSampleRate
        }
        return request
    }
}
