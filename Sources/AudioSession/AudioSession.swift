// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Foundation
import Synchronization

/// A program's standing with the sound system: what it wants of it, the route it has, and what becomes of it when devices come,
/// go and are taken. AVAudioSession's part on Linux.
///
/// ``activate()`` gives an `AudioDevice` that stays while the hardware behind it changes: whatever runs on it moves to the new
/// route and goes on by itself. Members are for any thread but the render thread.
public final class AudioSession: Sendable {
    /// The system of the devices.
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

    /// An inactive session.
    public convenience init(_ system: any AudioSystem, _ configuration: Configuration = Configuration()) {
        self.init(system, configuration, players: .shared)
    }

    /// - Parameters:
    ///   - players: the players to pause.
    ///   - settledInterval: milliseconds between two looks of the session's thread while nothing changes.
    init(
        _ system: any AudioSystem, _ configuration: Configuration, players: MPRISPlayers,
        settledInterval: Int = SessionWorker.Interval.settled
    ) {
        self.system = system
        self.settledInterval = settledInterval
        others = OtherSound(system, players)
        state = Mutex(State(configuration: configuration))
    }

    deinit { deactivate() }

    /// The wishes. Set while active, another preferred device is an override of the route and is taken at once, and so is what
    /// becomes of other programs; blocks and channel maps are for the next device that is opened. The rate and the channel counts
    /// stay what they were at the first activation. Players that are asked to pause or to go on are waited for, as by
    /// ``activate()``.
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

    /// Opens the route. From here on the session follows what happens to it. With ``OtherAudio/pause`` it returns when the
    /// players have answered, or after two seconds.
    /// - Returns: the session's device, the same at each activation.
    /// - Throws: what opening the devices throws, and ``AudioDevices/AudioDeviceError/noDefaultDevice(_:)``.
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
            configuration, system: system, device: device, broadcast: broadcast, settledInterval: settledInterval)
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

    /// Lets the devices go. What ran on the session gets no more calls until the next activation. Other programs' sound is as
    /// it was; players that were asked to pause are asked to go on.
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

    /// Goes on after a pause, on what is there now.
    public func resume() { active?.resume() }

    /// Returns the events from this call on.
    public func events() -> AsyncStream<AudioSessionEvent> { broadcast.stream() }

    /// The route in use; empty while there is none.
    public var currentRoute: AudioRoute { active?.route ?? AudioRoute() }
    /// The reason for the present route.
    public var lastRouteChange: RouteChange? { worker?.lastChange }
    /// The reason for which the session does not call, and its time; nil for none.
    public var interruption: (kind: Interruption, since: HostTime)? { active?.interruption }
    /// Returns true if the session waits for ``resume()``.
    public var isPaused: Bool { active?.isPaused ?? false }
    /// The last events since the latest activation, at most 100; kept after it.
    package var history: [AudioSessionEvent] { worker?.history ?? [] }
    /// The device of ``activate()``; nil before the first time.
    public var device: (any AudioDevice)? { state.withLock { $0.device } }
    /// The open device itself, for what only it can tell; nil while there is none.
    package var hardware: (any AudioDevice)? { state.withLock { $0.device }?.hardware }
    /// Frames, at the session's rate, lost between two devices so far.
    public var lostFrameCount: Int { state.withLock { $0.device }?.lostFrameCount ?? 0 }

    /// The number of looks of the session's thread since the last activation.
    var lookCount: Int { worker?.lookCount ?? 0 }
    private var worker: SessionWorker? { state.withLock { $0.worker } }
    private var active: SessionWorker? { state.withLock { $0.isActive ? $0.worker : nil } }
}

extension AudioSession.Configuration {
    /// Returns the request for a route.
    /// - Parameter device: gives the monitor, and its rate as a wish, once there is one.
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
        // The session makes up for channels that the device lacks; with a map the device's channels are the user's affair.
        let (from, to) = (devices.first { $0.id == choice.input }, devices.first { $0.id == choice.output })
        request.inputChannelCount =
            choice.input == nil
            ? 0 : inputChannelMap?.count ?? min(effectiveInputCount, from?.inputChannelCount ?? 1)
        request.outputChannelCount =
            choice.output == nil
            ? 0 : outputChannelMap?.count ?? min(effectiveOutputCount, to?.outputChannelCount ?? 2)
        request.monitor = device?.monitor
        if let device {
            // Once there is a client, these are wishes: a route that cannot have them is better than none.
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
