// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices

extension DeviceBench {
    static func withSimulated(_ setup: Setup, _ body: (DeviceBench) throws -> Void) throws {
        // The microphone captures the loudspeaker's output.
        let air = AudioRing(channelCount: setup.channelCount, capacity: 1 << 14)
        let configuration = SimulatedCard.Configuration(
            sampleRate: 48_000, blockFrameCount: setup.block, inputChannelCount: setup.channelCount,
            outputChannelCount: setup.channelCount, source: air, sink: air)
        let system = SimulatedSystem([.init(id: "card", name: "Card", configuration: configuration)])
        var request = AudioDeviceRequest()
        request.input = .device(id: "card")
        request.output = .device(id: "card")
        request.blockFrameCount = setup.block
        try withExtendedLifetime(air) {
            try body(
                DeviceBench(
                    kind: .simulated, setup: setup, system: system, request: request, closeLoop: { _ in },
                    kill: system.kill, revive: system.restart, unplug: { system.remove("card") }))
        }
    }
}
