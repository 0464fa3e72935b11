// SPDX-License-Identifier: Apache-2.0

import EarshotAudioSession
import EarshotCall

/// The monitor, by which the local participant hears itself.
extension LiveCallCore {
    /// The seconds by which the delay of an equal monitor may be wrong before it follows the others' voices.
    private static let monitorDelayTolerance = 0.003

    /// The mode and the route for which the monitor was chosen. Another one is a reason to choose again.
    struct MonitorBasis: Hashable, Sendable {
        var mode: MonitorMode
        var route: AudioRoute
    }

    /// Chooses whether the local participant hears itself: for a new mode or route, and if the latency now demands it.
    mutating func chooseMonitor(_ observation: Observation) {
        // The route is empty during a change of the device. An automatic monitor waits for the new device, which may be a
        // loudspeaker.
        guard let device = observation.device, !device.route.isEmpty else {
            if next.monitorMode == .auto { monitor(false) }
            return
        }
        let basis = MonitorBasis(mode: next.monitorMode, route: device.route)
        let wasOn = next.monitor?.isOn ?? false
        let roundTrip = device.inputLatency + device.outputLatency + observation.voiceLatency
        let choice = VoiceProcessingChoice(
            monitor: basis.mode, input: device.route.input, output: device.route.output,
            hasSeparateInput: device.hasSeparateInput,
            roundTrip: roundTrip,
            wasOn: wasOn && basis == monitorBasis)
        let latest = observation.calls.values.compactMap(\.mouthToEar).max() ?? 0
        let delay = basis.mode == .equal ? max(0, min(CallSession.longestMonitorDelay, latest - roundTrip)) : 0
        let isNear = basis == monitorBasis && abs(delay - next.monitorDelay) <= Self.monitorDelayTolerance
        monitor(choice.isOn, delay: isNear ? next.monitorDelay : delay)
        guard basis != monitorBasis || choice.isOn != wasOn else { return }
        let isNewMode = monitorBasis.map { $0.mode != basis.mode } ?? (basis.mode == .on)
        monitorBasis = basis
        next.monitor = choice
        if choice.isOn != wasOn || isNewMode { notify(.monitor(choice)) }
    }

    private mutating func monitor(_ isOn: Bool, delay: Double = 0) {
        guard isOn != isMonitored || delay != next.monitorDelay else { return }
        (isMonitored, next.monitorDelay) = (isOn, delay)
        act(.media(.setMonitor(isOn, delay: delay)))
    }
}
