import AudioBase
import AudioDevices
import Testing

@Suite("SimulatedDevice", .serialized) struct SimulatedDeviceTests {
    @Test("what the air brings is heard, each frame at its time")
    func loopBack() throws {
        let source = AudioRing(channelCount: 1, capacity: 32_768)
        let sink = AudioRing(channelCount: 1, capacity: 32_768)
        let ramp = AudioBuffer(channelCount: 1, frameCapacity: 24_000)
        for i in 0..<24_000 { ramp.channels[0][i] = Float(i + 1) }
        source.writer.write(ramp.channels, frameCount: 24_000)
        let device = try SimulatedDevice(
            .init(sampleRate: 48_000, blockFrameCount: 240, source: source.reader, sink: sink.writer))
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
        // Where the machine made the card lose a period there is silence; all else stands in its place.
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

    @Test("it says whether it runs in real time")
    func priority() throws {
        let device = try SimulatedDevice(.init(sampleRate: 48_000, blockFrameCount: 256))
        #expect(device.realTimePriority == nil)
        let probe = CycleProbe()
        try device.start(probe.callback)
        #expect(device.realTimePriority == nil || device.realTimePriority == 70)
        device.stop()
        #expect(device.realTimePriority == nil)
    }
}
