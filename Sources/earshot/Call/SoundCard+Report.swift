// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession
import EarshotLiveCall
import Foundation

extension AudioSession {
    /// The route changes after the first activation.
    var routeChanges: [CallReport.RouteChanged] {
        history.compactMap { event in
            guard case .routeChanged(let change) = event, change.reason != .activated else { return nil }
            return CallReport.RouteChanged(
                reason: change.reason.rawValue, previous: change.previous.description,
                current: change.current.description, monotonicNanoseconds: change.hostTime.nanoseconds,
                gapMs: change.gap * 1e3)
        }
    }

    /// The interruptions so far. An interruption that still lasts has no length.
    var interruptions: [CallReport.Interrupted] {
        var list: [CallReport.Interrupted] = []
        for event in history {
            switch event {
            case .interruptionBegan(let why): list.append(.init(why: why.text, seconds: nil))
            case .interruptionEnded(let why, let seconds):
                if let index = list.lastIndex(where: { $0.why == why.text && $0.seconds == nil }) {
                    list[index].seconds = seconds
                }
            case .routeChanged, .paused, .headsetMicrophoneUnavailable, .deviceUnavailable: break
            }
        }
        return list
    }
}

extension CallReport.Device {
    /// Returns a line about the route, followed by a line for each advice about its devices.
    func summary(_ route: AudioRoute) -> String {
        var line = CallDeviceLine(self, route).text
        let devices = [route.input, route.output].compactMap { $0 }
        for advice in Set(devices.compactMap(DeviceFormatting.advice)) { line += "\n\(advice)" }
        return line
    }

    init(_ session: AudioSession, _ device: any AudioDevice, _ asked: SystemOptions) {
        self.init(CallDevice(session, device), asked)
    }

    init(_ device: CallDevice, _ asked: SystemOptions) {
        self.init(
            kind: device.backend.rawValue, name: device.name, rate: device.sampleRate,
            block: device.blockFrameCount, inputLatencyMs: device.inputLatency * 1e3,
            outputLatencyMs: device.outputLatency * 1e3, realTimePriority: device.realTimePriority,
            scheduling: RealTimeScheduling.current().describe(granted: device.realTimePriority),
            sampleType: device.sampleType.rawValue, askedRate: asked.rate, askedBlock: asked.block,
            input: device.route.input.map { CallReport.Port($0) },
            output: device.route.output.map { CallReport.Port($0) })
    }
}

extension CallReport.Port {
    init(_ device: AudioDeviceDescription) {
        self.init(id: device.id, name: device.name, kind: device.kindDescription)
    }
}
