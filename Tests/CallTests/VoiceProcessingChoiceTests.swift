// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import Testing

@testable import EarshotCall

/// Tests when voice processing is on.
@Suite struct VoiceProcessingChoiceTests {
    private func device(
        _ form: AudioDeviceDescription.Form, inputs: Int = 0, outputs: Int = 0
    ) -> AudioDeviceDescription {
        AudioDeviceDescription(
            id: "x", backend: .simulated, name: "Thing", form: form, inputChannelCount: inputs,
            outputChannelCount: outputs)
    }

    @Test(arguments: [
        (AudioDeviceDescription.Form.microphone, AudioDeviceDescription.Form.speaker, 1, true),
        (.unknown, .speaker, 1, true), (.microphone, .speaker, 2, false), (.microphone, .headphones, 1, false),
        (.headset, .headset, 1, false), (.microphone, .unknown, 1, false), (.monitor, .speaker, 1, false),
        (.microphone, .line, 1, false),
    ])
    func `automatic voice processing is on with a loudspeaker and an open microphone`(
        input: AudioDeviceDescription.Form, output: AudioDeviceDescription.Form, channels: Int, isOn: Bool
    ) {
        func choice(_ mode: VoiceProcessingMode, block: Int = 256) -> VoiceProcessingChoice {
            VoiceProcessingChoice(
                mode, input: device(input, inputs: 1), output: device(output, outputs: 2), channelCount: channels,
                blockFrameCount: block, maximumBlockFrameCount: 256)
        }
        #expect(choice(.auto).isOn == isOn, "\(choice(.auto).reason)")
        #expect(choice(.on).isOn && !choice(.off).isOn)
        #expect(!choice(.on, block: 512).isOn && choice(.on, block: 512).reason.contains("512"))
    }

    @Test func `voice processing is off without a microphone or a loudspeaker`() {
        let choice = VoiceProcessingChoice(
            .auto, input: nil, output: device(.speaker, outputs: 2), channelCount: 1, blockFrameCount: 64,
            maximumBlockFrameCount: 64)
        #expect(!choice.isOn && choice.reason.contains("missing"))
    }
}
