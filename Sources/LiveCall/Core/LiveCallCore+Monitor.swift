// SPDX-License-Identifier: Apache-2.0

import EarshotAudioSession
import EarshotCall

/// The monitor, by which the local participant hears itself.
extension LiveCallCore {
    /// The mode and the route for which the monitor was chosen. Another one is a reason to choose again.
    struct MonitorBasis: Hashable, Sendable {
        var mode: VoiceProcessingMode
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
        let choice = VoiceProcessingChoice(
            monitor: basis.mode, input: device.route.input, output: device.route.output,
            hasSeparateInput: device.hasSeparateInput,
            roundTrip: device.inputLatency + device.outputLatency + observation.voiceLatency,
            wasOn: wasOn && basis == monitorBasis)
        monitor(choice.isOn)
        guard basis != monitorBasis || choice.isOn != wasOn else { return }
        let isNewMode = monitorBasis.map { $0.mode != basis.mode } ?? (basis.mode == .on)
        monitorBasis = basis
        next.monitor = choice
        if choice.isOn != wasOn || isNewMode { notify(.monitor(choice)) }
    }

    private mutating func monitor(_ isOn: Bool) {
        guard isOn != isMonitored else { return }
        isMonitored = isOn
        act(.media(.setMonitor(isOn)))
    }
}
