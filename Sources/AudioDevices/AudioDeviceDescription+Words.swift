// SPDX-License-Identifier: Apache-2.0

extension AudioDeviceDescription {
    /// The device's connection and form in words, such as "Bluetooth headset", "USB microphone" or "virtual speaker".
    package var kindDescription: String {
        let connectionWord: String? =
            switch transport {
            case .builtIn: "built-in"
            case .usb: "USB"
            case .bluetooth: "Bluetooth"
            case .hdmi: "HDMI"
            case .virtual: "virtual"
            case .unknown: nil
            }
        let formWord =
            switch form {
            case .unknown:
                inputChannelCount == 0 ? "output" : outputChannelCount == 0 ? "input" : "sound card"
            default: form.rawValue
            }
        return [connectionWord, formWord].compactMap { $0 }.joined(separator: " ")
    }
}
