// SPDX-License-Identifier: Apache-2.0

import EarshotCall

/// The monitor, by which the local participant hears itself, as JSON.
package struct MonitorDocument: Codable, Equatable, Sendable {
    /// The requested mode: `auto`, `on`, `off` or `equal`; nil in events.
    package var mode: String?
    /// `on` or `off`; nil before it was chosen for a device.
    package var state: String?
    /// The reason of the state.
    package var reason: String?
    /// The milliseconds by which an equal monitor is later than the device's round trip; nil for any other, and in events.
    package var delayMs: Double?

    init(_ choice: VoiceProcessingChoice?, mode: MonitorMode? = nil, delay: Double = 0) {
        self.mode = mode?.rawValue
        state = choice.map { $0.isOn ? "on" : "off" }
        reason = choice?.reason
        delayMs = mode == .equal ? CallJSON.milliseconds(delay) : nil
    }
}
