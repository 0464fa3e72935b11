// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import EarshotAudioSession
import EarshotCall
import EarshotVoiceProcessing

/// The sound device of a call as JSON.
package struct DeviceDocument: Codable, Equatable, Sendable {
    /// The microphone or the loudspeaker.
    package struct Port: Codable, Equatable, Sendable {
        package var id: String
        package var name: String
        package var transport: String
        package var form: String

        init(_ device: AudioDeviceDescription) {
            id = device.id
            name = device.name
            transport = device.transport.rawValue
            form = device.form.rawValue
        }
    }

    /// `pipewire`, `jack`, `alsa` or `simulated`.
    package var system: String
    package var name: String
    /// The sample rate in hertz.
    package var rate: Double
    /// The frames of a block.
    package var block: Int
    package var inputLatencyMs: Double?
    package var outputLatencyMs: Double?
    package var realTimePriority: Int?
    package var sampleType: String
    /// True if microphone and loudspeaker are separate devices.
    package var hasSeparateInput: Bool
    package var input: Port?
    package var output: Port?

    init(_ device: CallDevice) {
        system = device.backend.rawValue
        name = device.name
        rate = device.sampleRate
        block = device.blockFrameCount
        inputLatencyMs = CallJSON.milliseconds(device.inputLatency)
        outputLatencyMs = CallJSON.milliseconds(device.outputLatency)
        realTimePriority = device.realTimePriority
        sampleType = device.sampleType.rawValue
        hasSeparateInput = device.hasSeparateInput
        input = device.route.input.map { Port($0) }
        output = device.route.output.map { Port($0) }
    }
}

/// An event of the device as JSON.
package struct DeviceEventDocument: Codable, Equatable, Sendable {
    /// `routeChanged`, `interruptionBegan`, `interruptionEnded`, `deviceUnavailable`, `headsetMicrophoneUnavailable` or `paused`.
    package var kind: String
    /// The reason of a change of the route.
    package var reason: String?
    /// The time without sound during a change of the route.
    package var gapMs: Double?
    package var interruption: ErrorDocument?
    /// The length of an interruption.
    package var seconds: Double?
    package var text: String

    init(_ event: AudioSessionEvent) {
        text = event.description
        switch event {
        case .routeChanged(let change):
            kind = "routeChanged"
            reason = change.reason.rawValue
            gapMs = CallJSON.milliseconds(change.gap)
        case .interruptionBegan(let interruption):
            kind = "interruptionBegan"
            self.interruption = ErrorDocument(interruption)
        case .interruptionEnded(let interruption, let seconds):
            kind = "interruptionEnded"
            self.interruption = ErrorDocument(interruption)
            self.seconds = seconds.isFinite ? seconds : nil
        case .deviceUnavailable(let error):
            kind = "deviceUnavailable"
            interruption = ErrorDocument(code: "device-unavailable", error)
        case .headsetMicrophoneUnavailable: kind = "headsetMicrophoneUnavailable"
        case .paused: kind = "paused"
        }
    }
}

/// Voice processing as JSON.
package struct VoiceProcessingDocument: Codable, Equatable, Sendable {
    /// The requested mode: `auto`, `on` or `off`; nil in events.
    package var mode: String?
    /// `on`, `off` or `failed`; nil before voice processing was chosen.
    package var state: String?
    /// The reason of the state.
    package var reason: String?
    package var latencyMs: Double?

    init(_ state: VoiceProcessingState?, mode: VoiceProcessingMode? = nil) {
        self.mode = mode?.rawValue
        switch state {
        case .chosen(let choice, let latency)?:
            self.state = choice.isOn ? "on" : "off"
            reason = choice.reason
            latencyMs = CallJSON.milliseconds(latency)
        case .failed(let error)?:
            self.state = "failed"
            reason = error.description
        case nil: break
        }
    }
}

/// A recording as JSON. Fields after `seconds` are nil until it is complete.
package struct RecordingDocument: Codable, Equatable, Sendable {
    /// The absolute path of the folder.
    package var folder: String
    /// The length so far.
    package var seconds: Double?
    /// The path of the mix.
    package var mix: String?
    /// The paths of the voices.
    package var files: [String]?
    /// The seconds of silence in place of sound.
    package var gapSeconds: Double?

    init(folder: String, seconds: Double? = nil) {
        self.folder = folder
        self.seconds = seconds
    }

    init(_ result: CallRecordingResult) {
        folder = result.folder
        seconds = result.seconds
        mix = result.mixPath
        files = result.paths
        gapSeconds = result.gapSeconds
    }
}
