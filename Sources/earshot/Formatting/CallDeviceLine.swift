// SPDX-License-Identifier: Apache-2.0

import EarshotAudioSession
import EarshotLiveCall
import Foundation

/// The line about the device of a call: in the call's own terminal, which adds requested values and reasons, and in others.
struct CallDeviceLine {
    var route: String
    var rate: Double
    var block: Int
    /// The latencies in milliseconds; nil for a direction that the route does not have, or if unknown.
    var inputLatencyMs: Double?
    var outputLatencyMs: Double?
    /// The scheduling of the callback.
    var scheduling: String
    /// The values that the user requested; nil for none.
    var requestedRate: Double?
    var requestedBlock: Int?

    /// The line, such as `Audio: Webcam → Speakers, 48 kHz, 256-frame blocks, input 5.3 ms, output 5.3 ms, SCHED_FIFO 70`.
    var text: String {
        let rateNote = requestedRate.map { $0 == rate ? "" : " (requested \(Int($0)) Hz)" } ?? ""
        let blockNote = requestedBlock.map { $0 == block ? "" : " (requested \($0))" } ?? ""
        var parts = ["Audio: \(route)", FileFormatting.kilohertz(rate) + rateNote, "\(block)-frame blocks\(blockNote)"]
        if let inputLatencyMs { parts.append(String(format: "input %.1f ms", inputLatencyMs)) }
        if let outputLatencyMs { parts.append(String(format: "output %.1f ms", outputLatencyMs)) }
        return (parts + [scheduling]).joined(separator: ", ")
    }
}

extension CallDeviceLine {
    init(_ device: DeviceDocument) {
        self.init(
            route: AudioRoute.description(from: device.input?.name, to: device.output?.name), rate: device.rate,
            block: device.block, inputLatencyMs: device.input == nil ? nil : device.inputLatencyMs,
            outputLatencyMs: device.output == nil ? nil : device.outputLatencyMs,
            scheduling: device.realTimePriority.map { "SCHED_FIFO \($0)" } ?? "normal scheduling")
    }

    init(_ device: CallReport.Device, _ route: AudioRoute) {
        self.init(
            route: "\(route)", rate: device.rate, block: device.block,
            inputLatencyMs: route.input == nil ? nil : device.inputLatencyMs,
            outputLatencyMs: route.output == nil ? nil : device.outputLatencyMs, scheduling: device.scheduling,
            requestedRate: device.askedRate, requestedBlock: device.askedBlock)
    }
}
