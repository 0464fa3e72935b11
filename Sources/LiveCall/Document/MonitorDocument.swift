// SPDX-License-Identifier: Apache-2.0

import EarshotCall

/// The monitor, by which the local participant hears itself, as JSON.
package struct MonitorDocument: Codable, Equatable, Sendable {
    /// The requested mode: `auto`, `on` or `off`; nil in events.
    package var mode: String?
    /// `on` or `off`; nil before it was chosen for a device.
    package var state: String?
    /// The reason of the state.
    package var reason: String?

    init(_ choice: VoiceProcessingChoice?, mode: VoiceProcessingMode? = nil) {
        self.mode = mode?.rawValue
        state = choice.map { $0.isOn ? "on" : "off" }
        reason = choice?.reason
    }
}
