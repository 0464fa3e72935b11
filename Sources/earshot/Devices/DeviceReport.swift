// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import Foundation

/// The report of `devices --json`. The manual page documents its fields, which must not change.
struct DeviceReport: Codable {
    struct Device: Codable {
        var id: String
        var name: String
        var transport: String
        var form: String
        var inputs: Int
        var outputs: Int
        var rate: Double
        var rates: [Double]
        var minimumBlock: Int
        var maximumBlock: Int
        var inputLatencyMs: Double?
        var outputLatencyMs: Double?
        var isDefaultInput: Bool
        var isDefaultOutput: Bool
        /// The name of the port in use; nil if the system names none.
        var port: String?
        /// True if a plug is in the port; nil if unknown.
        var isPluggedIn: Bool?
        /// The profile of a Bluetooth headset: `music` or `call`; nil for other devices.
        var headsetProfile: String?
        /// The permission to record: `granted`, `denied` or `unknown`; nil for outputs, and in events.
        var recordPermission: String?
        /// The reason that the permission is not granted.
        var recordObstacle: String?

        init(_ device: AudioDeviceDescription, _ permission: RecordPermission? = nil) {
            id = device.id
            name = device.name
            transport = device.transport.rawValue
            form = device.form.rawValue
            inputs = device.inputChannelCount
            outputs = device.outputChannelCount
            rate = device.sampleRate
            rates = device.sampleRates
            minimumBlock = device.blockFrameCounts.lowerBound
            maximumBlock = device.blockFrameCounts.upperBound
            inputLatencyMs = device.inputLatency.map { $0 * 1e3 }
            outputLatencyMs = device.outputLatency.map { $0 * 1e3 }
            isDefaultInput = device.isDefaultInput
            isDefaultOutput = device.isDefaultOutput
            port = device.portName
            isPluggedIn = device.port.flatMap { $0.availability == .unknown ? nil : $0.availability == .available }
            headsetProfile = device.headsetProfile.map { if case .music = $0 { "music" } else { "call" } }
            recordPermission = permission?.word
            recordObstacle = permission?.reason?.word
        }
    }

    struct System: Codable {
        var system: String
        var isRunning: Bool
        /// The reason that the sound system does not run; nil if it runs.
        var reason: String?
        var devices: [Device]
    }

    /// A line of `devices --watch --json`.
    struct Event: Codable {
        /// The time in ISO 8601, in UTC.
        var time: String
        var system: String
        /// The event: `running`, `gone`, `added`, `removed`, `changed`, `defaultInput`, `defaultOutput`.
        var event: String
        var device: Device?
        /// The reason that the sound system is gone; nil for all other events.
        var reason: String?
    }

    var earshot = CallReport.version
    var systems: [System]

    init(_ listings: [DeviceListing]) {
        systems = listings.map { listing in
            System(
                system: listing.backend.rawValue, isRunning: listing.failure == nil,
                reason: listing.failure.map { ErrorText.text($0) },
                devices: listing.devices.map { Device($0, listing.permissions[$0.id]) })
        }
    }
}
