// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import Foundation

/// Formats a device's properties as text.
enum DeviceFormatting {
    static func name(_ device: AudioDeviceDescription) -> String { TerminalText.sanitized(device.name) }

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

    /// Returns the input and output latency in milliseconds.
    static func delay(_ device: AudioDeviceDescription) -> String {
        let sides: [(isThere: Bool, latency: Double?)] = [
            (device.has(.input), device.inputLatency), (device.has(.output), device.outputLatency),
        ]
        let known = sides.filter(\.isThere).map { $0.latency.map { String(format: "%.1f", $0 * 1e3) } }
        return known.contains { $0 != nil } ? known.map { $0 ?? "–" }.joined(separator: " / ") + " ms" : "–"
    }

    /// Returns a summary for a line: "Bluetooth headset, 1 in, 2 out, 48 kHz".
    static func summary(_ device: AudioDeviceDescription) -> String {
        let channels = [(device.inputChannelCount, "in"), (device.outputChannelCount, "out")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return ([device.kindDescription] + channels + [rate(device)]).joined(separator: ", ")
    }

    /// Returns advice on a device before a call; nil if there is none.
    static func advice(_ device: AudioDeviceDescription) -> String? {
        guard device.transport == .bluetooth, device.form != .monitor else { return nil }
        let delay = [device.inputLatency, device.outputLatency].compactMap { $0 }.filter { (0...10).contains($0) }.max()
        let statedDelay = delay.map { " (\(Int(($0 * 1e3).rounded())) ms by its own account)" } ?? ""
        let delays = "it delays sound by 100 to 300 ms\(statedDelay)"
        return "\(name(device)) is a Bluetooth device: \(delays). Use a cable for singing."
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() ? String(format: "%.0f", value) : String(format: "%g", value)
    }
}
