// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import EarshotCall
import EarshotLiveCall
import EarshotPlayout
import EarshotRooms

/// A setting of the configuration file. Its raw value is the option's long name.
enum ConfigurationKey: String, CaseIterable {
    case name, device, microphone, speaker, dial, monitor, accept
    case allowRecording = "allow-recording"

    /// The allowed values as text.
    var values: String {
        switch self {
        case .name: "your name, up to 63 bytes"
        case .device: AudioBackend.allCases.map(\.rawValue).joined(separator: ", ")
        case .microphone, .speaker: "a device's name, or a part of it"
        case .dial: "sing, talk, listen or a number from 0 to 1"
        case .monitor: MonitorMode.allCases.map(\.rawValue).joined(separator: ", ")
        case .accept: AdmissionPolicy.allCases.map(\.rawValue).joined(separator: ", ")
        case .allowRecording: RecordingConsent.allCases.map(\.rawValue).joined(separator: ", ")
        }
    }

    /// Returns the reason that a value is refused; nil if it is valid.
    func problem(with value: String) -> String? {
        let isAccepted =
            switch self {
            case .name: (try? PeerName(value)) != nil
            case .device: AudioBackend(rawValue: value) != nil
            case .microphone, .speaker: !value.isEmpty && value.utf8.count <= 1_024
            case .dial: LatencyProfile(argument: value) != nil
            case .monitor: MonitorMode(rawValue: value) != nil
            case .accept: AdmissionPolicy(rawValue: value) != nil
            case .allowRecording: RecordingConsent(rawValue: value) != nil
            }
        return isAccepted ? nil : "cannot be '\(TerminalText.sanitized(value))'; use \(values)"
    }
}
