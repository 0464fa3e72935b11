// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import Testing

@testable import EarshotCall

/// Tests when the monitor is on.
@Suite struct MonitorChoiceTests {
    typealias Form = AudioDeviceDescription.Form

    private static func device(_ form: Form) -> AudioDeviceDescription {
        AudioDeviceDescription(
            id: "x", backend: .simulated, name: "Thing", form: form, inputChannelCount: 1, outputChannelCount: 2)
    }

    private static func choice(
        _ mode: MonitorMode = .auto, _ input: Form = .microphone, _ output: Form = .headphones,
        roundTrip: Double = 0.008, isSeparate: Bool = false, wasOn: Bool = false
    ) -> VoiceProcessingChoice {
        VoiceProcessingChoice(
            monitor: mode, input: device(input), output: device(output), hasSeparateInput: isSeparate,
            roundTrip: roundTrip, wasOn: wasOn)
    }

    @Test(arguments: [
        (Form.microphone, Form.headphones, true, "headphones, round trip 8.0 ms"),
        (.headset, .headset, true, "headset, round trip 8.0 ms"), (.line, .headphones, true, "headphones"),
        (.unknown, .headset, true, "headset"), (.microphone, .speaker, false, "feed back"),
        (.headset, .speaker, false, "feed back"), (.microphone, .unknown, false, "'Thing' reports no type"),
        (.microphone, .line, false, "reports no type"), (.monitor, .headphones, false, "not a microphone"),
    ])
    func `the automatic monitor is on with headphones or a headset only`(
        input: Form, output: Form, isOn: Bool, reason: String
    ) {
        let choice = Self.choice(.auto, input, output)
        #expect(choice.isOn == isOn && choice.reason.contains(reason), "\(choice.reason)")
        #expect(Self.choice(.on, input, output).isOn && !Self.choice(.off, input, output).isOn)
    }

    @Test(
        arguments: [
            (0, false, true), (0.014_9, false, true), (0.015, false, false), (0.016_9, true, true),
            (0.017, true, false),
            (0.2, true, false), (.infinity, false, false), (.nan, true, false), (-1, false, true),
        ] as [(Double, Bool, Bool)])
    func `the automatic monitor needs a round trip below 15 ms, and 17 ms turn it off again`(
        roundTrip: Double, wasOn: Bool, isOn: Bool
    ) {
        let choice = Self.choice(roundTrip: roundTrip, wasOn: wasOn)
        #expect(choice.isOn == isOn && choice.reason.contains("too long") == !isOn, "\(choice.reason)")
        #expect(Self.choice(.on, roundTrip: roundTrip).isOn)
    }

    @Test(arguments: MonitorMode.allCases)
    func `with a separate microphone there is no monitor`(mode: MonitorMode) {
        let choice = Self.choice(mode, isSeparate: true)
        #expect(
            !choice.isOn
                && choice.reason == (mode == .off ? "as asked" : "microphone and loudspeaker are separate devices"))
    }

    @Test func `without a microphone or headphones the automatic monitor is off`() {
        for (input, output) in [(nil, Self.device(.headphones)), (Self.device(.microphone), nil), (nil, nil)] {
            let choice = VoiceProcessingChoice(
                monitor: .auto, input: input, output: output, hasSeparateInput: false, roundTrip: 0)
            #expect(!choice.isOn && choice.reason.contains("missing"))
        }
    }
}
