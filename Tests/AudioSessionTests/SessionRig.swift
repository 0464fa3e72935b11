import AudioBase
import AudioDevices

@testable import AudioSession

/// A session's decisions on virtual time: a world that a test changes, looked at every 20 ms, with devices that open at once
/// unless told otherwise.
struct SessionRig {
    var state: SessionState
    var world = SessionState.World(devices: [], isStarted: true)
    var now = HostTime(nanoseconds: 1_000_000_000)
    /// What opening a route throws.
    var openError: AudioDeviceError?
    /// Whether the open device calls.
    var isCalling = true
    var events: [AudioSessionEvent] = []
    var opened: [RouteChoice] = []
    var openTimes: [HostTime] = []
    var isOpen = false

    init(
        _ configuration: AudioSession.Configuration, backend: AudioBackend = .pipewire,
        _ devices: [AudioDeviceDescription]
    ) {
        state = SessionState(configuration, backend: backend)
        world.devices = devices
        run(0.1)
    }

    init(backend: AudioBackend = .pipewire, _ devices: [AudioDeviceDescription]) {
        self.init(AudioSession.Configuration(), backend: backend, devices)
    }

    mutating func run(_ seconds: Double) {
        for _ in 0..<max(1, Int((seconds / 0.02).rounded())) {
            now = now.advanced(bySeconds: 0.02)
            if isOpen, isCalling, world.failure == nil { world.callCount += 4 }
            perform(state.update(world, at: now))
        }
    }

    private mutating func perform(_ actions: [SessionState.Action]) {
        for action in actions {
            switch action {
            case .close:
                isOpen = false
                world.failure = nil
            case .tell(let event): events.append(event)
            case .open(let choice):
                let wasOpen = isOpen
                if let openError {
                    perform(state.openFailed(choice, openError, isStillOpen: wasOpen, at: now))
                    continue
                }
                isOpen = true
                opened.append(choice)
                openTimes.append(now)
                let devices = world.devices
                state.opened(
                    choice,
                    as: AudioRoute(
                        input: devices.first { $0.id == choice.input }, output: devices.first { $0.id == choice.output }
                    ),
                    calls: world.callCount, at: now)
            }
        }
    }

    /// The reasons of all changes of route, in order.
    var reasons: [RouteChange.Reason] {
        events.compactMap { if case .routeChanged(let change) = $0 { change.reason } else { nil } }
    }

    var interruptions: [Interruption] {
        events.compactMap { if case .interruptionBegan(let kind) = $0 { kind } else { nil } }
    }

    var endings: [Double] {
        events.compactMap { if case .interruptionEnded(_, let seconds) = $0 { seconds } else { nil } }
    }

    static func device(
        _ id: String, form: AudioDeviceDescription.Form = .speaker, inputs: Int = 1, outputs: Int = 2,
        isDefault: Bool = false
    ) -> AudioDeviceDescription {
        AudioDeviceDescription(
            id: id, backend: .pipewire, name: "the \(id)", form: form, inputChannelCount: inputs,
            outputChannelCount: outputs, isDefaultInput: isDefault && inputs > 0,
            isDefaultOutput: isDefault && outputs > 0)
    }
}
