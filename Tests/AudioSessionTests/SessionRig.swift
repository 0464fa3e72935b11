// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices

@testable import EarshotAudioSession

/// A session's decisions on virtual time. A test changes the devices' state, which is inspected as often as the session's thread
/// does; devices open at once by default.
struct SessionRig {
    var state: SessionState
    var snapshot = SessionState.DeviceSnapshot(devices: [], isStarted: true)
    var now = HostTime(nanoseconds: 1_000_000_000)
    /// The error of opening a route.
    var openError: AudioDeviceError?
    /// A device that another program uses.
    var taken: String?
    /// The settings that a test changes while the next device opens.
    var settingsWhileOpening: AudioSession.Configuration?
    /// True if the open device has callbacks.
    var isCalling = true
    var events: [AudioSessionEvent] = []
    var headsetActions: [HeadsetSwitch.Action] = []
    var opened: [RouteChoice] = []
    var openTimes: [HostTime] = []
    var isOpen = false
    var inspectionCount = 0

    init(
        _ configuration: AudioSession.Configuration, backend: AudioBackend = .pipewire,
        _ devices: [AudioDeviceDescription]
    ) {
        state = SessionState(configuration, backend: backend)
        snapshot.devices = devices
        snapshot.slept = 30_000_000_000_000  // the machine was asleep last night
        adopt()
        run(0.1)
    }

    init(backend: AudioBackend = .pipewire, _ devices: [AudioDeviceDescription]) {
        self.init(AudioSession.Configuration(), backend: backend, devices)
    }

    /// Does the work of `AudioSession.activate` before the first inspection, if there is a device to open.
    private mutating func adopt() {
        guard let choice = state.policy.choice(among: snapshot.devices) else { return }
        open(choice)
    }

    private mutating func open(_ choice: RouteChoice) {
        let devices = snapshot.devices
        isOpen = true
        opened.append(choice)
        openTimes.append(now)
        if let settings = settingsWhileOpening {
            settingsWhileOpening = nil
            state.configure(settings)
        }
        state.opened(
            choice,
            as: AudioRoute(
                input: devices.first { $0.id == choice.input }, output: devices.first { $0.id == choice.output }),
            calls: snapshot.callCount, at: now)
    }

    mutating func run(_ seconds: Double) {
        var left = max(1, Int((seconds / 0.02).rounded()))
        var isWoken = true  // by what the test has changed
        while left > 0 {
            let steps = min(left, isWoken || state.isChanging(at: now) ? 1 : 5)
            isWoken = false
            left -= steps
            now = now.advanced(bySeconds: 0.02 * Double(steps))
            if isOpen, isCalling, snapshot.failure == nil { snapshot.callCount += 4 * steps }
            inspectionCount += 1
            perform(state.update(snapshot, at: now))
        }
    }

    private func openErrors(_ choice: RouteChoice) -> AudioDeviceError? {
        if let taken, taken == choice.input || taken == choice.output { return .busy(device: "the \(taken)") }
        return openError
    }

    private mutating func perform(_ actions: [SessionState.Action]) {
        for action in actions {
            switch action {
            case .close:
                isOpen = false
                snapshot.failure = nil
            case .notify(let event): events.append(event)
            case .headset(let action): headsetActions.append(action)
            case .open(let choice):
                if let error = openErrors(choice) {
                    perform(state.openFailed(choice, error, isStillOpen: isOpen, at: now))
                } else {
                    open(choice)
                }
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
