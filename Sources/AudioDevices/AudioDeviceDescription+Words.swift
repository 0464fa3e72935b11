extension AudioDeviceDescription {
    /// What it is, in words such as "Bluetooth headset", "USB microphone" or "virtual speaker".
    public var kindDescription: String {
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

    /// What whoever sings should know of it, in one line, or nil.
    public var advice: String? {
        guard transport == .bluetooth, form != .monitor else { return nil }
        let delay = [inputLatency, outputLatency].compactMap { $0 }.filter { (0...10).contains($0) }.max()
        let said = delay.map { " (\(Int(($0 * 1e3).rounded())) ms by its own account)" } ?? ""
        return "\(name) is a Bluetooth device: it delays sound by 100 to 300 ms\(said). Use a cable for singing."
    }
}
