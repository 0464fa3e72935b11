// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices

extension SessionState {
    /// Follows the ports of the devices in use, such as headphones that are plugged in or pulled out of a laptop's socket. The
    /// devices stay open: the hardware moves the sound.
    ///
    /// Headphones that were pulled out are reported at once, and pause the session if its category requires that. All other
    /// changes are reported when they have been stable for ``Limit/settle``. A session that is resumed before the hardware leaves
    /// the pulled port does not pause again.
    mutating func noticePorts(_ snapshot: DeviceSnapshot, _ now: HostTime) -> [Action] {
        policy.unplugged = policy.unplugged.filter { id in snapshot.devices.contains { $0.id == id && !$0.isAvailable }
        }
        guard let current, current.input == route.input?.id, current.output == route.output?.id else {
            portsWanted = nil
            return []
        }
        let new = AudioRoute(
            input: snapshot.devices.first { $0.id == current.input },
            output: snapshot.devices.first { $0.id == current.output })
        guard new.input?.id == current.input, new.output?.id == current.output else { return [] }
        if route.output?.port != pausedPort { pausedPort = nil }
        if let old = route.output, let output = new.output, pausedPort == nil, Self.areUnplugged(old, output) {
            return unplug(from: output, new, now)
        }
        guard !Self.haveSamePorts(route, new) else {
            portsWanted = nil
            route = new
            return []
        }
        if portsWanted.map({ !Self.haveSamePorts($0.route, new) }) ?? true { portsWanted = (new, now) }
        guard now.seconds(since: portsWanted?.since ?? now) >= Limit.settle else { return [] }
        let isPluggedIn = new.output?.isWorn == true && route.output?.isWorn != true
        return changePorts(to: new, isPluggedIn ? .newDeviceAvailable : .routeConfigurationChange, now)
    }

    private mutating func unplug(from output: AudioDeviceDescription, _ new: AudioRoute, _ now: HostTime) -> [Action] {
        let hasOtherPort = output.ports.contains { $0.name != output.portName && $0.availability != .unavailable }
        let isLost = output.isWorn && !hasOtherPort
        if policy.configuration.pauses {
            if isLost { policy.unplugged.insert(output.id) }
            current = nil
            next = .oldDeviceUnavailable
            portsWanted = nil
            pausedPort = output.portName == route.output?.portName ? output.port : nil
            isPaused = true
            return [.close, .notify(.paused(route))]
        }
        if isLost {
            // The system names another default device shortly.
            policy.unplugged.insert(output.id)
            current = nil
            next = .oldDeviceUnavailable
            portsWanted = nil
            return [.close]
        }
        // A device with several ports moves its sound to another one shortly after it has noticed the plug.
        return output.isWorn ? [] : changePorts(to: new, .oldDeviceUnavailable, now)
    }

    private mutating func changePorts(
        to new: AudioRoute, _ reason: RouteChange.Reason, _ now: HostTime
    ) -> [Action] {
        portsWanted = nil
        // The report of an earlier change that still waits for the first callback includes this one.
        if pending == nil { previous = route }
        route = new
        guard pending == nil else { return [] }
        return [
            .notify(.routeChanged(RouteChange(reason: reason, previous: previous, current: new, hostTime: now, gap: 0)))
        ]
    }

    /// Returns true if the headphones of a device were pulled out. If the port cannot tell, a change away from it counts as
    /// pulled out: a needless pause is better than music from the loudspeaker. A user who chooses the loudspeaker while the
    /// headphones stay plugged in has pulled out nothing.
    private static func areUnplugged(_ old: AudioDeviceDescription, _ new: AudioDeviceDescription) -> Bool {
        guard old.isWorn, let port = old.port else { return false }
        let availability = new.ports.first { $0.name == port.name }?.availability ?? .unavailable
        guard new.isWorn else { return availability != .available }
        // A sensor that always says "unavailable" is wrong; only a change counts.
        return new.portName == port.name && availability == .unavailable && port.availability != .unavailable
    }

    private static func haveSamePorts(_ a: AudioRoute, _ b: AudioRoute) -> Bool {
        func isSame(_ a: AudioDeviceDescription?, _ b: AudioDeviceDescription?) -> Bool {
            a?.form == b?.form && (a?.portName == b?.portName || a?.portName == nil || b?.portName == nil)
        }
        return isSame(a.input, b.input) && isSame(a.output, b.output)
    }

    /// Returns the reason for a new route: on some cards, plugging in headphones removes the loudspeaker's device.
    func arrivalReason(_ reason: RouteChange.Reason, _ new: AudioRoute) -> RouteChange.Reason {
        guard reason == .oldDeviceUnavailable, let output = new.output, output.isWorn, route.output?.isWorn != true,
            let arrival = arrivals[output.id], let last = lastInspection
        else { return reason }
        return last.seconds(since: arrival) < Limit.arrival ? .newDeviceAvailable : reason
    }
}
