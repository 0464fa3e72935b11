// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices

extension SessionState {
    mutating func noticeSleep(_ snapshot: DeviceSnapshot, _ now: HostTime) -> [Action] {
        defer {
            lastInspection = now
            slept = snapshot.slept
        }
        guard let last = lastInspection else { return [] }
        let awaySeconds = max(now.seconds(since: last), Double(snapshot.slept &- (slept ?? snapshot.slept)) * 1e-9)
        guard awaySeconds > Limit.sleep, current != nil else { return [] }
        progress = now
        return [.notify(.interruptionBegan(.suspended)), .notify(.interruptionEnded(.suspended, seconds: awaySeconds))]
    }

    /// Notes new devices. On a system whose default does not follow new devices, newly plugged-in headphones and headsets are
    /// preferred from now on, since the user expects the sound there.
    mutating func noticeArrivals(_ snapshot: DeviceSnapshot, _ now: HostTime) {
        let isFirstLook = arrivals.isEmpty
        for device in snapshot.devices { names[device.id] = device.name }
        // Headphones may have a device of their own, which is always listed. It arrives when its port becomes available.
        for device in snapshot.devices where device.isAvailable && arrivals[device.id] != nil {
            if seen.contains(where: { $0.id == device.id && !$0.isAvailable }) { arrivals[device.id] = now }
        }
        for device in snapshot.devices where arrivals[device.id] == nil {
            arrivals[device.id] = isFirstLook ? HostTime(nanoseconds: .min / 2) : now
            guard !isFirstLook, !followsDefault, device.isWorn else { continue }
            if device.has(.input) { policy.inputComeback = device.id }
            if device.has(.output) { policy.outputComeback = device.id }
        }
        if !snapshot.devices.isEmpty {
            let ids = Set(snapshot.devices.map(\.id))
            arrivals = arrivals.filter { ids.contains($0.key) }
            names = names.filter { ids.contains($0.key) || $0.key == current?.input || $0.key == current?.output }
        }
    }

    mutating func noticeCalls(_ snapshot: DeviceSnapshot, _ now: HostTime) -> [Action] {
        guard current != nil else { return [] }
        var actions: [Action] = []
        let isCalling = snapshot.callCount != calls || !snapshot.isStarted
        if isCalling {
            calls = snapshot.callCount
            progress = now
            reopenAt = nil
        }
        if let reason = pending, !snapshot.isStarted || snapshot.callCount > callsAtOpen {
            pending = nil
            let change = RouteChange(
                reason: reason, previous: previous, current: route,
                hostTime: snapshot.isStarted ? snapshot.firstCall : now, gap: snapshot.isStarted ? snapshot.gap : 0)
            actions = end(now) + [.notify(.routeChanged(change))]
        } else if isCalling, pending == nil {
            actions = end(now)
        }
        if now.seconds(since: progress) > Limit.stall {
            actions += begin(.stalled, progress)
            if reopenAt == nil { reopenAt = now.advanced(bySeconds: Limit.reopen) }
        }
        return actions
    }

    /// Records the failure of the open device. ``follow(_:_:)`` then chooses another.
    mutating func handle(_ failure: AudioDeviceError, _ now: HostTime) -> [Action] {
        switch failure {
        case .deviceGone(let name):
            if let current { avoid(current, named: name, for: Limit.avoidance, now) }
            return []
        case .serverGone:
            current = nil
            next = .serverRestarted
            return [.close] + begin(.serverGone, now)
        case .sampleRateChanged, .stalled:
            current = nil
            next = .deviceRestarted
            return [.close]
        default:
            current = nil
            next = .deviceRestarted
            retryAt = now.advanced(bySeconds: Limit.avoidance)
            return [.close] + begin(.deviceFailed(failure), now)
        }
    }

    /// Moves to the policy's choice once the choice has been stable for long enough, or opens stalled devices again.
    mutating func follow(_ snapshot: DeviceSnapshot, _ now: HostTime) -> [Action] {
        var actions: [Action] = []
        avoided = avoided.filter { now < $0.value }
        let devices = snapshot.devices.filter { avoided[$0.id] == nil }
        let bestChoice = snapshot.isServerGone ? nil : policy.choice(among: devices)
        if let current, bestChoice == nil || !areListed(current, devices) {
            if let waiting = awaitProfile(current, snapshot, now) {
                actions += waiting
            } else {
                actions += lose(current, devices, isServerGone: snapshot.isServerGone)
            }
            if isPaused { return actions }
        }
        if let change = reconfiguration {
            switch inspect(change, devices, snapshot, now) {
            case .away: return actions
            case .returned: break
            case .lost:
                reconfiguration = nil
                actions += lose(change.choice, devices, isServerGone: snapshot.isServerGone)
                if isPaused { return actions }
            }
        }
        guard let bestChoice else { return actions + begin(snapshot.isServerGone ? .serverGone : .noDevice, now) }
        if choiceWanted?.choice != bestChoice { choiceWanted = (bestChoice, now) }
        guard let current else {
            if let change = reconfiguration {
                guard areDefaultsFinal(after: change, bestChoice, now) else { return actions }
                if bestChoice.output != change.choice.output { next = .defaultChanged }
            }
            return now >= retryAt && isNamed(bestChoice, devices, now) ? actions + [.open(bestChoice)] : actions
        }
        if let at = reopenAt, now >= at {
            reopenAt = now.advanced(bySeconds: Limit.reopen)
            next = .deviceRestarted
            self.current = nil
            return actions + [.close, .open(bestChoice)]
        }
        if mustReopen {
            next = .override
            self.current = nil
            return actions + [.close, .open(bestChoice)]
        }
        guard bestChoice != current else {
            if next == .override { next = nil }
            return actions
        }
        // The program's choice was refused and is avoided for now. The present devices stay, instead of the default ones.
        if let refused, bestChoice != refused, policy.choice(among: snapshot.devices) == refused { return actions }
        let isSettled = next == .override || now.seconds(since: choiceWanted?.since ?? now) >= Limit.settle
        return isSettled && now >= retryAt ? actions + [.open(bestChoice)] : actions
    }

    /// Returns the reason for preferring another route to the present route, which still works.
    func betterReason(_ bestChoice: RouteChoice, _ now: HostTime) -> RouteChange.Reason {
        if bestChoice == refused { return .override }
        let moved = [
            bestChoice.input == current?.input ? nil : bestChoice.input,
            bestChoice.output == current?.output ? nil : bestChoice.output,
        ]
        let wanted = [
            policy.configuration.preferredInput, policy.configuration.preferredOutput, policy.inputComeback,
            policy.outputComeback,
        ]
        for case let id? in moved {
            let isNew = arrivals[id].map { now.seconds(since: $0) < Limit.arrival } ?? false
            if isNew || wanted.contains(id) { return .newDeviceAvailable }
        }
        return .defaultChanged
    }

    /// Handles the removal of the device in use: closes it, and pauses if the category requires that.
    mutating func lose(
        _ choice: RouteChoice, _ devices: [AudioDeviceDescription], isServerGone: Bool
    ) -> [Action] {
        current = nil
        next = isServerGone ? .serverRestarted : .oldDeviceUnavailable
        if isServerGone { return [.close] }
        if !followsDefault {
            let isMissing = { (id: String?) in id != nil && !devices.contains { $0.id == id } }
            if isMissing(choice.input) { policy.inputComeback = choice.input }
            if isMissing(choice.output) { policy.outputComeback = choice.output }
        }
        if policy.configuration.pauses, route.output?.isWorn == true {
            isPaused = true
            return [.close, .notify(.paused(route))]
        }
        return [.close]
    }

    private func areListed(_ choice: RouteChoice, _ devices: [AudioDeviceDescription]) -> Bool {
        [choice.input, choice.output].allSatisfy { id in id == nil || devices.contains { $0.id == id } }
    }

    /// Returns true if the system has named its new default or has had enough time to do so.
    private mutating func isNamed(_ bestChoice: RouteChoice, _ devices: [AudioDeviceDescription], _ now: HostTime)
        -> Bool
    {
        guard followsDefault else { return true }
        let configuration = policy.configuration
        let isMarked =
            (bestChoice.input == nil || bestChoice.input == configuration.preferredInput
                || devices.contains(where: \.isDefaultInput))
            && (bestChoice.output == nil || bestChoice.output == configuration.preferredOutput
                || devices.contains { $0.isDefaultOutput && !policy.unplugged.contains($0.id) })
        if isMarked { return true }
        if lostDefault == nil { lostDefault = now }
        return now.seconds(since: lostDefault ?? now) >= Limit.defaultDelay
    }

    /// Avoids the choice's device that an error names, for `seconds`; if the error names none, a device not in use.
    mutating func avoid(_ choice: RouteChoice, named name: String, for seconds: Double, _ now: HostTime) {
        let ids = [choice.output, choice.input].compactMap { $0 }
        let id =
            ids.first { $0 == name || names[$0] == name }
            ?? ids.first { $0 != current?.input && $0 != current?.output } ?? ids.first
        if let id { avoided[id] = now.advanced(bySeconds: seconds) }
    }

    mutating func begin(_ kind: Interruption, _ now: HostTime) -> [Action] {
        guard interruption == nil else { return [] }
        interruption = (kind, now)
        return [.notify(.interruptionBegan(kind))]
    }

    private mutating func end(_ now: HostTime) -> [Action] {
        guard let (kind, since) = interruption else { return [] }
        interruption = nil
        return [.notify(.interruptionEnded(kind, seconds: now.seconds(since: since)))]
    }
}
