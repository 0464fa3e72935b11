// SPDX-License-Identifier: Apache-2.0

extension AudioDeviceDescription {
    /// The kind in words such as "Bluetooth headset", "USB microphone" or "virtual speaker".
    package var kindDescription: String {
        let how: String? =
            switch transport {
            case .builtIn: "built-in"
            case .usb: "USB"
            case .bluetooth: "Bluetooth"
            case .hdmi: "HDMI"
            case .virtual: "virtual"
            case .unknown: nil
            }
        let what =
            switch form {
            case .unknown:
                inputChannelCount == 0 ? "output" : outputChannelCount == 0 ? "input" : "sound card"
            default: form.rawValue
            }
        return [how, what].compactMap { $0 }.joined(separator: " ")
    }
}
