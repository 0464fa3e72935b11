import AudioDevices
import Foundation

/// A device in words. What others named is outside input: a name may hold whatever its maker put there, so nothing in it
/// reaches a terminal as a command.
enum DeviceWords {
    static func name(_ device: AudioDeviceDescription) -> String { printable(device.name) }

    static func printable(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: result.append("?")
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    /// Such as "Bluetooth headset".
    static func kind(_ device: AudioDeviceDescription) -> String {
        let attached: String? =
            switch device.transport {
            case .builtIn: "built-in"
            case .usb: "USB"
            case .bluetooth: "Bluetooth"
            case .hdmi: "HDMI"
            case .virtual: "virtual"
            case .unknown: nil
            }
        let form =
            switch device.form {
            case .speaker: "speaker"
            case .headphones: "headphones"
            case .headset: "headset"
            case .microphone: "microphone"
            case .line: device.has(.input) ? device.has(.output) ? "line in and out" : "line in" : "line out"
            case .monitor: "monitor"
            case .unknown:
                device.has(.input)
                    ? device.has(.output) ? "sound card" : "input" : device.has(.output) ? "output" : "device"
            }
        return attached.map { "\($0) \(form)" } ?? form
    }

    static func rate(_ device: AudioDeviceDescription) -> String {
        let current = "\(number(device.sampleRate / 1e3)) kHz"
        guard let low = device.sampleRates.min(), let high = device.sampleRates.max(), low < high else {
            return current
        }
        return "\(current) (\(number(low / 1e3))–\(number(high / 1e3)))"
    }

    static func blocks(_ device: AudioDeviceDescription) -> String {
        let range = device.blockFrameCounts
        return range.lowerBound == range.upperBound ? "\(range.lowerBound)" : "\(range.lowerBound)–\(range.upperBound)"
    }

    /// Before input, after output, in milliseconds.
    static func delay(_ device: AudioDeviceDescription) -> String {
        let sides: [(isThere: Bool, latency: Double?)] = [
            (device.has(.input), device.inputLatency), (device.has(.output), device.outputLatency),
        ]
        let known = sides.filter(\.isThere).map { $0.latency.map { String(format: "%.1f", $0 * 1e3) } }
        return known.contains { $0 != nil } ? known.map { $0 ?? "–" }.joined(separator: " / ") + " ms" : "–"
    }

    /// In a line of news: "Bluetooth headset, 1 in, 2 out, 48 kHz".
    static func summary(_ device: AudioDeviceDescription) -> String {
        let channels = [(device.inputChannelCount, "in"), (device.outputChannelCount, "out")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return ([kind(device)] + channels + [rate(device)]).joined(separator: ", ")
    }

    /// What a person should know of a device before a call over it.
    static func advice(_ device: AudioDeviceDescription) -> String? {
        guard device.transport == .bluetooth else { return nil }
        let latency = (device.inputLatency ?? 0) + (device.outputLatency ?? 0)
        let delay =
            latency > 0 ? String(format: "adds %.0f ms", latency * 1e3) : "adds 100 to 300 ms, which nobody reports"
        return "\(name(device)) is wireless: Bluetooth \(delay). It does for talking; for singing together use a cable."
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() ? String(format: "%.0f", value) : String(format: "%g", value)
    }
}
