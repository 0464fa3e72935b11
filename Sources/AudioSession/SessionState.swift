// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices

/// Makes a session's decisions, without thread, clock or device: it gets the devices' state and the time, and returns actions.
struct SessionState: Sendable {
    /// The state of the devices as the session's thread sees it.
    struct DeviceSnapshot: Sendable {
        var devices: [AudioDeviceDescription]
        /// The ids of devices that are absent because their hardware changes its profile.
        var reconfigured: Set<String> = []
        var isServerGone = false
        /// The reason for which the open device stopped.
        var failure: AudioDeviceError?
        /// True if the client wants callbacks.
        var isStarted = false
        /// Callbacks of all devices so far.
        var callCount = 0
        /// Seconds lost before the open device's first callback, and the time at which that callback was due.
        var gap = 0.0
        var firstCall = HostTime(nanoseconds: 0)
        /// Nanoseconds for which the machine has slept since it was started.
        var slept: Int64 = 0
    }

    /// An action for the session's thread.
    enum Action: Hashable, Sendable {
        case close
        /// Opens devices. The answer is ``SessionState/opened(_:as:calls:at:)`` or
        /// ``SessionState/openFailed(_:_:isStillOpen:at:)``.
        case open(RouteChoice)
        case notify(AudioSessionEvent)
        /// Asks for, sets or releases a headset's profile for calls.
        case headset(HeadsetSwitch.Action)
    }

    /// Times in seconds.
    enum Limit {
        /// Seconds without a callback after which the device counts as stalled.
        static let stall = 0.5
        /// Seconds for which a device may be stalled before it is opened again.
        static let reopen = 3.0
        /// Seconds between two inspections after which this process counts as stopped, or the machine as asleep.
        static let sleep = 1.0
        /// Seconds for which a better device must exist before it replaces a working one, since a headset appears as several
        /// devices.
        static let settle = 0.1
        /// Seconds that a system may take to name another default device after the last one disappeared.
        static let defaultDelay = 0.08
        /// Seconds from the return of a headset that changed its profile until the default device counts as final.
        static let profileSettle = 0.3
        /// Seconds for which a device counts as new, and for which a headset may be away while it changes its profile.
        static let arrival = 3.0
        /// Seconds for which a failed device is not tried again.
        static let avoidance = 0.25
        /// Seconds for which a device that another program uses is not tried again.
        static let busyTime = 2.0
        /// Seconds after a change until the devices count as settled: they appear in bursts, and a failure is seen after the list
        /// has changed.
        static let settlingTime = 1.0
        /// Seconds between two attempts to open a device: the shortest and the longest.
        static let retry = 0.02...0.5
    }

    var policy: RoutePolicy
    let followsDefault: Bool
    var isPaused = false

    var current: RouteChoice?  // nil while nothing is open
    var route = AudioRoute()  // the last that was open
    var previous = AudioRoute()
    var next: RouteChange.Reason? = .activated  // why the next device will be opened; nil: it is better
    var pending: RouteChange.Reason?  // why the present device was opened; reported at its first callback
    var callsAtOpen = 0

    var interruption: (kind: Interruption, since: HostTime)?
    var calls = -1  // the count of callbacks at the last look
    var progress = HostTime(nanoseconds: 0)  // when the count of calls last rose
    var reopenAt: HostTime?
    var mustReopen = false  // the device is wanted for this program alone, or no longer
    var retryAt = HostTime(nanoseconds: .min)
    var retryDelay = Limit.retry.lowerBound
    var refused: RouteChoice?  // the choice whose failure was reported
    var avoided: [String: HostTime] = [:]  // devices that failed, until when
    var choiceWanted: (choice: RouteChoice, since: HostTime)?
    var portsWanted: (route: AudioRoute, since: HostTime)?  // the present devices with other ports
    var pausedPort: AudioDeviceDescription.Port?  // the pulled port that paused the session, while it is in use
    var reconfiguration: Reconfiguration?
    var headsetSwitch = HeadsetSwitch()
    var lostDefault: HostTime?  // when the system was first seen without a default device
    var arrivals: [String: HostTime] = [:]  // when each device was first seen, by id
    var names: [String: String] = [:]  // the devices' names, by id
    var lastInspection: HostTime?
    var slept: Int64?
    var seen: [AudioDeviceDescription] = []  // at the last look
    private var settlesAt = HostTime(nanoseconds: .min)
    private var hasUpdate = true  // true after a change of this state that the devices do not show

    init(_ configuration: AudioSession.Configuration, backend: AudioBackend) {
        policy = RoutePolicy(configuration: configuration)
        followsDefault = RoutePolicy.followsDefault(backend)
    }

    /// Inspects the devices' state. Call it every few hundredths of a second while ``isChanging(at:)``, otherwise ten times a
    /// second and as soon as the devices change.
    mutating func update(_ snapshot: DeviceSnapshot, at now: HostTime) -> [Action] {
        let actions = advance(snapshot, at: now) + switchHeadset(snapshot, now)
        if hasUpdate || !actions.isEmpty || snapshot.failure != nil || snapshot.devices != seen {
            settlesAt = now.advanced(bySeconds: Limit.settlingTime)
        }
        hasUpdate = false
        seen = snapshot.devices
        return actions
    }

    /// Returns true while a time limit runs: for a second after a change, or while a device must prove stable, is avoided, or is
    /// tried again.
    func isChanging(at now: HostTime) -> Bool {
        now < settlesAt || now < retryAt || avoided.values.contains { now < $0 }
            || (current != nil && choiceWanted.map { $0.choice != current } ?? false)
            || portsWanted != nil || reconfiguration != nil || headsetSwitch.isChanging
    }

    private mutating func advance(_ snapshot: DeviceSnapshot, at now: HostTime) -> [Action] {
        var actions = noticeSleep(snapshot, now) + noticeCalls(snapshot, now)
        noticeArrivals(snapshot, now)
        if isPaused { return actions }
        if current != nil, let failure = snapshot.failure { actions += handle(failure, now) }
        actions += noticePorts(snapshot, now)
        if isPaused { return actions }
        return actions + follow(snapshot, now)
    }

    /// Records that the thread was busy for the session until now, so that this time does not count as sleep.
    mutating func touch(at now: HostTime) { lastInspection = now }

    /// Records that the devices of ``Action/open(_:)`` were opened.
    mutating func opened(_ choice: RouteChoice, as new: AudioRoute, calls: Int, at now: HostTime) {
        pending = next.map { arrivalReason($0, new) } ?? betterReason(choice, now)
        // The program may have chosen another device while these were opened.
        let isOutdated = next == .override && policy.choice(among: seen.filter { avoided[$0.id] == nil }) != choice
        next = isOutdated ? .override : nil
        refused = nil
        portsWanted = nil
        reconfiguration = nil
        previous = route
        route = new
        current = choice
        callsAtOpen = calls
        self.calls = calls
        progress = now
        retryDelay = Limit.retry.lowerBound
        reopenAt = nil
        mustReopen = false
        lostDefault = nil
        hasUpdate = true
        touch(at: now)
    }

    /// Records that the devices of a choice could not be opened. If the previous devices are still open, the session keeps them.
    mutating func openFailed(
        _ choice: RouteChoice, _ error: AudioDeviceError, isStillOpen: Bool, at now: HostTime
    ) -> [Action] {
        touch(at: now)
        retryAt = now.advanced(bySeconds: retryDelay)
        retryDelay = min(Limit.retry.upperBound, retryDelay * 2)
        switch error {
        case .busy(let name), .notPermitted(let name): avoid(choice, named: name, for: Limit.busyTime, now)
        case .deviceGone(let name), .noDevice(let name, _): avoid(choice, named: name, for: Limit.avoidance, now)
        default: break
        }
        if isStillOpen { return reportRefusal(of: choice, error) }
        current = nil
        switch error {
        case .busy, .notPermitted: return begin(.deviceTaken(error), now)
        case .serverGone, .noServer:
            next = .serverRestarted
            return begin(.serverGone, now)
        case .deviceGone, .noDevice: return []
        case .noDefaultDevice: return begin(.noDevice, now)
        default: return begin(.deviceFailed(error), now)
        }
    }

    /// Reports once that the program's choice cannot be opened while the previous devices continue.
    private mutating func reportRefusal(of choice: RouteChoice, _ error: AudioDeviceError) -> [Action] {
        guard next == .override, refused != choice else { return [] }
        refused = choice
        return [.notify(.deviceUnavailable(error))]
    }

    /// Applies changed settings.
    mutating func configure(_ configuration: AudioSession.Configuration) {
        if (configuration.otherAudio == .exclude) != (policy.configuration.otherAudio == .exclude) { mustReopen = true }
        let before = policy.configuration
        policy.configuration = configuration
        if before.preferredInput != configuration.preferredInput { policy.inputComeback = nil }
        if before.preferredOutput != configuration.preferredOutput { policy.outputComeback = nil }
        if current != nil { next = .override }
        refused = nil
        hasUpdate = true
    }

    /// Ends a pause.
    mutating func resume() {
        isPaused = false
        hasUpdate = true
    }
}
