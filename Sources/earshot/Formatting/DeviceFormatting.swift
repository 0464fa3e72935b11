// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import Foundation

/// Formats a device's properties as text.
enum DeviceFormatting {
    static func name(_ device: AudioDeviceDescription) -> String { TerminalText.sanitized(device.name) }

    /// Returns the kind of a device: "built-in headphones", or "built-in headphones, unplugged".
    static func kind(_ device: AudioDeviceDescription) -> String {
        device.kindDescription + (device.isAvailable ? "" : ", unplugged")
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
        return ([kind(device)] + channels + [rate(device)]).joined(separator: ", ")
    }

    /// Returns advice on a device before a call; nil if there is none.
    static func advice(_ device: AudioDeviceDescription) -> String? {
        guard device.transport == .bluetooth, device.form != .monitor else { return nil }
        let delay = [device.inputLatency, device.outputLatency].compactMap { $0 }.filter { (0...10).contains($0) }.max()
        let statedDelay = delay.map { " (\(Int(($0 * 1e3).rounded())) ms by its own account)" } ?? ""
        let delays = "it delays sound by 100 to 300 ms\(statedDelay)"
        let cable = "\(name(device)) is a Bluetooth device: \(delays). Use a cable for singing."
        return [cable, profile(device)].compactMap { $0 }.joined(separator: " ")
    }

    /// Returns the cost of a Bluetooth headset's microphone; nil for other devices.
    private static func profile(_ device: AudioDeviceDescription) -> String? {
        switch device.headsetProfile {
        case .music(hasCallProfile: true)?: "Its microphone works only in call mode, in mono and telephone quality."
        case .music(hasCallProfile: false)?: "It has no microphone for calls."
        case .call(let codec, let sampleRate)?:
            "It is in call mode: mono\(sampleRate.map { ", \(number($0 / 1e3)) kHz" } ?? "")"
                + "\(codec.isEmpty ? "" : " (\(TerminalText.sanitized(codec)))"). "
                + "Music mode returns when the microphone is no longer used."
        case nil: nil
        }
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() ? String(format: "%.0f", value) : String(format: "%g", value)
    }
}
