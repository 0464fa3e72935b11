// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Synchronization

/// The session's thread. It inspects the devices when they change and at intervals, and carries out the actions of
/// ``SessionState``.
final class SessionWorker: Sendable {
    let system: any AudioSystem
    let device: SessionDevice
    let broadcast: Broadcast<AudioSessionEvent>
    private let settledInterval: Int
    private let clock: SessionClock
    /// Milliseconds between two inspections. The long interval finds what no event reports: callbacks that stopped, a machine
    /// that slept.
    enum Interval {
        static let settled = 100
        static let changing = 20
    }

    private struct Shared {
        var state: SessionState
        var history: [AudioSessionEvent] = []
        var lastChange: RouteChange?
    }
    private let shared: Mutex<Shared>
    private let thread = Mutex<ServiceThread?>(nil)
    private let headsetMicrophone = Mutex<HeadsetMicrophone?>(nil)
    private let inspections = Atomic<Int>(0)

    init(
        _ configuration: AudioSession.Configuration, system: any AudioSystem, device: SessionDevice,
        broadcast: Broadcast<AudioSessionEvent>, settledInterval: Int, clock: SessionClock
    ) {
        self.clock = clock
        self.settledInterval = settledInterval
        self.system = system
        self.device = device
        self.broadcast = broadcast
        shared = Mutex(Shared(state: SessionState(configuration, backend: system.backend)))
    }

    /// The last events, at most 100.
    var history: [AudioSessionEvent] { shared.withLock { $0.history } }
    var lastChange: RouteChange? { shared.withLock { $0.lastChange } }
    var route: AudioRoute { shared.withLock { $0.state.current == nil ? AudioRoute() : $0.state.route } }
    var interruption: (kind: Interruption, since: HostTime)? { shared.withLock { $0.state.interruption } }
    var isPaused: Bool { shared.withLock { $0.state.isPaused } }
    /// The number of inspections so far.
    var inspectionCount: Int { inspections.load(ordering: .relaxed) }

    func configure(_ configuration: AudioSession.Configuration) {
        shared.withLock { $0.state.configure(configuration) }
        wake()
    }

    func resume() {
        if isPaused { device.forgetGap() }
        shared.withLock { $0.state.resume() }
        wake()
    }

    /// Records the devices with which the session was activated.
    func adopt(_ choice: RouteChoice, _ route: AudioRoute) {
        let calls = device.callCount
        shared.withLock { $0.state.opened(choice, as: route, calls: calls, at: clock.now()) }
    }

    func start() throws(AudioDeviceError) {
        guard clock.hasThread else { return }
        system.registry.wake(device.wakeup)
        let new = ServiceThread(name: "session", wakeup: device.wakeup) { [weak self] in
            (self?.inspectDevices()).map { .milliseconds($0) }
        }
        let code = new.start()
        guard code == 0 else { throw .noThread(code: Int(code)) }
        thread.withLock { $0 = new }
    }

    /// Stops the thread and waits for its end.
    func stop() {
        thread.withLock { $0.take() }?.stop()
        headsetMicrophone.withLock { $0.take() }?.end()
    }

    private func wake() { device.wakeup.handle.wake() }

    /// Returns the milliseconds until the next inspection.
    func inspectDevices() -> Int {
        let gap = device.gap
        let list = system.registry.contents
        let snapshot = SessionState.DeviceSnapshot(
            // ALSA has no server: an empty list means a machine without a sound card.
            devices: list.devices, reconfigured: list.reconfigured,
            isServerGone: system.failure != nil && system.backend != .alsa,
            failure: device.hardwareFailure,
            isStarted: device.isStarted, callCount: device.callCount, gap: gap.seconds, firstCall: gap.firstCall,
            slept: clock.slept())
        let now = clock.now()
        inspections.wrappingAdd(1, ordering: .relaxed)
        perform(shared.withLock { $0.state.update(snapshot, at: now) })
        return shared.withLock { shared in
            shared.state.isChanging(at: now) ? Interval.changing : settledInterval
        }
    }

    private func perform(_ actions: [SessionState.Action]) {
        for action in actions {
            switch action {
            case .close: device.close()
            case .open(let choice): open(choice)
            case .notify(let event): notify(event)
            case .headset(let action): perform(action)
            }
        }
    }

    private func perform(_ action: HeadsetSwitch.Action) {
        switch action {
        case .request(let id):
            let request = (system as? any HeadsetMicrophoneSystem)?.requestMicrophone(ofHeadset: id)
            headsetMicrophone.withLock { $0 = request }
        case .force: headsetMicrophone.withLock { $0 }?.force()
        case .release: headsetMicrophone.withLock { $0.take() }?.end()
        case .fail: break
        }
    }

    /// Opens the new devices before the old devices are closed, so that the gap is short. If both use a card that is busy, the
    /// old devices are closed first. The old devices' sound is faded out.
    private func open(_ choice: RouteChoice) {
        let (configuration, current) = shared.withLock { ($0.state.policy.configuration, $0.state.current) }
        let devices = system.devices
        let isShared = [choice.input, choice.output].contains { id in
            id != nil && (id == current?.input || id == current?.output)
        }
        let request = configuration.request(choice, devices, device)
        do throws(AudioDeviceError) {
            let new: any AudioDevice
            do throws(AudioDeviceError) {
                new = try system.open(request)
            } catch .busy where device.isOpen && isShared {
                device.fadeOut(clock)
                device.close()
                new = try system.open(request)
            }
            device.fadeOut(clock)
            try device.replace(with: new)
            let route = AudioRoute(
                input: devices.first { $0.id == choice.input }, output: devices.first { $0.id == choice.output })
            let calls = device.callCount
            shared.withLock { $0.state.opened(choice, as: route, calls: calls, at: clock.now()) }
        } catch {
            let isOpen = device.isOpen
            perform(shared.withLock { $0.state.openFailed(choice, error, isStillOpen: isOpen, at: clock.now()) })
        }
    }

    private func notify(_ event: AudioSessionEvent) {
        shared.withLock { shared in
            shared.history = Array((shared.history + [event]).suffix(100))
            if case .routeChanged(let change) = event { shared.lastChange = change }
        }
        broadcast.send(event)
    }
}
