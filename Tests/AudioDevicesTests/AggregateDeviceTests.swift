// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import TestSupport
import TestTraits
import Testing

/// Two devices as one, in real time.
@Suite("AggregateDevice", .serialized, .realTime) struct AggregateDeviceTests {
    private static func request(_ input: String, _ output: String) -> AudioDeviceRequest {
        SimulatedSystemTests.request(input: .device(id: input), output: .device(id: output))
    }

    /// A microphone at 44.1 kHz that captures a constant, and a loudspeaker at 48 kHz.
    private static func system(_ air: AudioRing, loudspeaker: [SimulatedCard.Event] = []) -> SimulatedSystem {
        let constant = AudioBuffer(channelCount: 1, frameCapacity: 1 << 18)
        for i in 0..<(1 << 18) { constant.channels[0][i] = 0.5 }
        air.writer.write(constant.channels, frameCount: 1 << 18)
        var microphone = SimulatedSystemTests.card("mic", outputs: 0, rates: [44_100])
        microphone.description.sampleRate = 44_100
        microphone.configuration.source = air
        return SimulatedSystem([
            microphone, SimulatedSystemTests.card("speaker", inputs: 0, rates: [48_000], script: loudspeaker),
        ])
    }

    @Test("a microphone is captured on another card's clock")
    func hears() throws {
        let air = AudioRing(channelCount: 1, capacity: 1 << 18)
        let system = Self.system(air)
        var request = Self.request("mic", "speaker")
        request.sampleRate = 48_000
        request.blockFrameCount = 128
        request.monitor = CallbackMonitor(sampleRate: 48_000)
        let device = try #require(try system.open(request) as? AggregateDevice)
        #expect(device.name == "Card mic and Card speaker")
        #expect(device.input.sampleRate == 44_100)
        #expect(device.sampleRate == 48_000)
        #expect(device.blockFrameCount == 128)
        #expect((device.inputChannelCount, device.outputChannelCount) == (1, 2))
        #expect(device.monitor === request.monitor)
        let before = device.inputLatency
        for _ in 0..<2 {
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(throws: AudioDeviceError.alreadyRunning) { try device.start(probe.callback) }
            #expect(eventually { probe.notes.last.map { abs($0.firstInput - 0.5) < 1e-4 } ?? false })
            device.stop()
            #expect(!device.isLocked)
            let notes = probe.notes
            #expect(notes.allSatisfy { $0.inputCount == 1 && $0.outputCount == 2 && $0.frameCount == 128 })
            #expect(notes.allSatisfy { (-1e-4...0.51).contains($0.firstInput) })
            #expect(notes.first?.firstInput == 0)
        }
        #expect(device.inputLatency >= before - 1e-9)
        #expect(device.inputLatency < before + 0.1)
        #expect(device.failure == nil)
    }

    @Test("the failure of either device is the failure of the aggregate device", arguments: ["mic", "speaker"])
    func fails(_ id: String) throws {
        let system = Self.system(AudioRing(channelCount: 1, capacity: 1 << 18))
        let device = try system.open(Self.request("mic", "speaker"))
        let probe = CycleProbe()
        try device.start(probe.callback)
        #expect(eventually { probe.count > 5 })
        system.remove(id)
        #expect(device.failure == .deviceGone(name: "Card \(id)"))
        let count = probe.count
        #expect(id == "speaker" || eventually { probe.count > count + 5 })
        device.stop()
        #expect(throws: AudioDeviceError.deviceGone(name: "Card \(id)")) { try device.start(probe.callback) }
        system.putBack(id)
        #expect(try system.open(Self.request("mic", "speaker")).failure == nil)
    }

    @Test("an input device without input or an output device without output is rejected")
    func refused() throws {
        let mute = try SimulatedDevice(.init(sampleRate: 48_000, blockFrameCount: 64, outputChannelCount: 0))
        let deaf = try SimulatedDevice(.init(sampleRate: 48_000, blockFrameCount: 64, inputChannelCount: 0))
        #expect(throws: AudioDeviceError.unsupportedFormat(detail: "simulated has no input")) {
            try AggregateDevice(input: deaf, output: deaf)
        }
        #expect(throws: AudioDeviceError.unsupportedFormat(detail: "simulated has no output")) {
            try AggregateDevice(input: mute, output: mute)
        }
        #expect(try AggregateDevice(input: mute, output: deaf).failure == nil)
    }
}
