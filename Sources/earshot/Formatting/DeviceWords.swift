import AudioDevices
import Foundation

/// A device in words. What others named is outside input: a name may hold whatever its maker put there, so nothing in it
/// reaches a terminal as a command.
enum DeviceWords {
    static func name(_ device: AudioDeviceDescription) -> String { printable(device.name) }

    /// Joiners stay: emoji and several scripts need them.
    static func printable(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .format where scalar == "\u{200C}" || scalar == "\u{200D}": result.append(scalar)
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: result.append("?")
            default: result.append(scalar)
            }
        }
        return String(result)
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
        return ([device.kindDescription] + channels + [rate(device)]).joined(separator: ", ")
    }

    /// What a person should know of a device before a call over it.
    static func advice(_ device: AudioDeviceDescription) -> String? { device.advice.map(printable) }

    private static func number(_ value: Double) -> String {
        value == value.rounded() ? String(format: "%.0f", value) : String(format: "%g", value)
    }
}
