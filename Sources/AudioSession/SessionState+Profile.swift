// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices

extension SessionState {
    /// A change of a Bluetooth headset's profile, during which the headset has no devices.
    struct Reconfiguration: Hashable, Sendable {
        /// The route at the beginning.
        var choice: RouteChoice
        var since: HostTime
        /// The time since when the headset's output is listed again; nil while it is away.
        var returned: HostTime?
    }

    enum ReconfigurationProgress {
        case away
        case returned
        case lost
    }

    /// Asks for the microphone of a Bluetooth headset while the session captures and plays on the headset.
    mutating func switchHeadset(_ snapshot: DeviceSnapshot, _ now: HostTime) -> [Action] {
        if reconfiguration != nil { return [] }
        let configuration = policy.configuration
        let isWanted = configuration.effectiveInputCount > 0 && configuration.preferredInput == nil && !isPaused
        let output = current?.output.flatMap { id in snapshot.devices.first { $0.id == id } }
        return headsetSwitch.update(output, isWanted: isWanted, at: now).map { action -> Action in
            if case .fail(let device) = action {
                .notify(.headsetMicrophoneUnavailable(device))
            } else {
                .headset(action)
            }
        }
    }

    /// Closes an output that will return with another profile, without a pause and without another device.
    /// - Returns: nil if the output will not return, or if another device was lost.
    mutating func awaitProfile(_ choice: RouteChoice, _ snapshot: DeviceSnapshot, _ now: HostTime) -> [Action]? {
        guard let output = choice.output, !snapshot.isServerGone else { return nil }
        // The device's failure may be seen before the list has changed.
        let isAbsent = !snapshot.devices.contains { $0.id == output }
        let isFailed = avoided[output] != nil && route.output?.headsetProfile != nil
        guard isAbsent ? snapshot.reconfigured.contains(output) : isFailed else { return nil }
        reconfiguration = Reconfiguration(choice: choice, since: now)
        current = nil
        next = .routeConfigurationChange
        return [.close]
    }

    /// Returns the state of a headset that changes its profile, and notes its return.
    mutating func inspect(
        _ change: Reconfiguration, _ devices: [AudioDeviceDescription], _ snapshot: DeviceSnapshot, _ now: HostTime
    ) -> ReconfigurationProgress {
        guard let output = change.choice.output else { return .lost }
        if devices.contains(where: { $0.id == output }) {
            if change.returned == nil { reconfiguration?.returned = now }
            return .returned
        }
        reconfiguration?.returned = nil
        let mayReturn = snapshot.reconfigured.contains(output) || snapshot.devices.contains { $0.id == output }
        return mayReturn && now.seconds(since: change.since) < Limit.arrival ? .away : .lost
    }

    /// Returns true if the default devices after a change of a headset's profile are final. The headset's microphone appears with
    /// its output, and the system then names both as the defaults.
    func areDefaultsFinal(after change: Reconfiguration, _ bestChoice: RouteChoice, _ now: HostTime) -> Bool {
        guard let returned = change.returned, let wanted = choiceWanted else { return false }
        let isStable = now.seconds(since: wanted.since) >= Limit.settle
        let isSame = bestChoice.output == change.choice.output
        return isStable && (isSame || now.seconds(since: returned) >= Limit.profileSettle)
    }
}
