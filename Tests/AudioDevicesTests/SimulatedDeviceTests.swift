// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import TestSupport
import TestTraits
import Testing

@Suite("SimulatedDevice", .serialized, .realTime) struct SimulatedDeviceTests {
    @Test("frames from the source ring reach the sink, each at its time")
    func loopBack() throws {
        let source = AudioRing(channelCount: 1, capacity: 32_768)
        let sink = AudioRing(channelCount: 1, capacity: 32_768)
        let ramp = AudioBuffer(channelCount: 1, frameCapacity: 24_000)
        for i in 0..<24_000 { ramp.channels[0][i] = Float(i + 1) }
        source.writer.write(ramp.channels, frameCount: 24_000)
        let device = try SimulatedDevice(
            .init(sampleRate: 48_000, blockFrameCount: 240, source: source, sink: sink))
        #expect(device.card.firstInputFrameTime == nil)
        let probe = CycleProbe()
        try device.start(probe.callback)
        #expect(device.card.firstInputFrameTime != nil)
        #expect(eventually { probe.count >= 40 })
        device.stop()
        let held = sink.reader.heldFrames
        #expect(held >= 40 * 240)
        let heard = AudioBuffer(channelCount: 1, frameCapacity: held)
        _ = sink.reader.read(heard.channels, frameCount: held)
        // A period that the machine made the card lose is silent; all else is in place.
        let wrong = (0..<held).filter { heard.channels[0][$0] != Float($0 + 1) && heard.channels[0][$0] != 0 }
        #expect(wrong.isEmpty)
        let silent = (0..<held).filter { heard.channels[0][$0] == 0 }.count
        #expect(silent >= device.monitor.skippedFrameCount)
        #expect(silent <= device.monitor.skippedFrameCount + 240 * device.monitor.xrunCount)
        for note in probe.notes {
            let expected = device.card.firstInputFrameTime?.advanced(bySeconds: Double(note.sampleTime + 240) / 48_000)
            #expect(note.hostTime == expected)
        }
    }

    @Test("the real-time priority is reported only while the device runs")
    func priority() throws {
        let device = try SimulatedDevice(.init(sampleRate: 48_000, blockFrameCount: 256))
        #expect(device.realTimePriority == nil)
        let probe = CycleProbe()
        try device.start(probe.callback)
        #expect(device.realTimePriority == grantedPriority(70))
        device.stop()
        #expect(device.realTimePriority == nil)
    }

    @Test("a stalled device can be stopped, and a vanished one reports its failure")
    func scripted() throws {
        var configuration = SimulatedCard.Configuration(sampleRate: 48_000, blockFrameCount: 64)
        configuration.script = [.stall(at: 0.05, for: 3_600)]
        let stalled = try SimulatedDevice(configuration)
        let probe = CycleProbe()
        try stalled.start(probe.callback)
        #expect(eventually { (probe.notes.last?.sampleTime ?? 0) > 2_000 })
        stalled.stop()
        #expect(stalled.failure == nil)
        configuration.script = [.vanish(at: 0.05)]
        let vanishing = try SimulatedDevice(configuration, name: "card")
        try vanishing.start(probe.callback)
        #expect(eventually { vanishing.failure == .deviceGone(name: "card") })
        vanishing.stop()
        #expect(throws: AudioDeviceError.deviceGone(name: "card")) { try vanishing.start(probe.callback) }
    }

    @Test("the periods of a stall are counted as skipped frames")
    func skipped() throws {
        var configuration = SimulatedCard.Configuration(sampleRate: 48_000, blockFrameCount: 64)
        configuration.script = [.stall(at: 0.05, for: 0.1)]
        let device = try SimulatedDevice(configuration)
        let probe = CycleProbe()
        try device.start(probe.callback)
        #expect(eventually { (probe.notes.last?.sampleTime ?? 0) > 9_600 })
        device.stop()
        #expect(device.monitor.skippedFrameCount >= 4_800 - 128)
        #expect(device.monitor.xrunCount >= 1)
    }
}
