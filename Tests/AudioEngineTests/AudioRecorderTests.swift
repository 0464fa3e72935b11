import AudioBase
import AudioDSP
import AudioFiles
import Foundation
import TestSupport
import Testing

@testable import AudioEngine

@Suite struct AudioRecorderTests {
    @Test(arguments: ["wav", "mp3"])
    func `what is recorded is what is heard`(kind: String) throws {
        let path = FileManager.default.temporaryDirectory.path + "/earshot-\(UUID().uuidString).\(kind)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let rig = EngineRig()
        let source = sineSource(1_000, channels: 2)
        try rig.engine.attach(source)
        try rig.engine.connect(source, to: rig.engine.mainMixerNode)
        let recorder = try AudioRecorder(path: path, format: rig.format)
        try rig.start()
        #expect(rig.engine.outputFormat(of: source) == rig.format)
        try rig.engine.installTap(on: rig.engine.mainMixerNode, recorder: recorder)
        let output = try rig.render(48_000, blocks: [333, 4_096, 1])
        rig.engine.flushTaps()
        try recorder.close()
        #expect(recorder.frameCount == 48_000 && recorder.lostFrameCount == 0 && recorder.error == nil)
        let reader = try AudioFileReader(path: path)
        #expect(reader.frameCount == 48_000)
        let read = AudioBuffer(channelCount: 2, frameCapacity: 48_000)
        #expect(try reader.read(into: read.channels, frameCount: 48_000) == 48_000)
        for c in 0..<2 {
            let got = Array(UnsafeBufferPointer(start: read.channels[c], count: 48_000))
            #expect(errorDecibels(output[c], got) < (kind == "wav" ? -200 : -30))
        }
    }

    @Test func `a recorder of another rate is refused`() throws {
        let rig = EngineRig()
        let source = sineSource(1_000)
        try rig.engine.attach(source)
        try rig.engine.connect(source, to: rig.engine.mainMixerNode)
        try rig.start()
        let recorder = try AudioRecorder(path: "/dev/null", format: AudioFormat(sampleRate: 44_100, channelCount: 2))
        #expect(throws: AudioEngineError.self) {
            try rig.engine.installTap(on: rig.engine.mainMixerNode, recorder: recorder)
        }
    }

    @Test func `a tap that begins late counts as the engine does`() throws {
        let rig = EngineRig(channels: 1)
        let source = sineSource(1_000)
        try rig.engine.attach(source)
        try rig.engine.connect(source, to: rig.engine.mainMixerNode)
        try rig.start()
        _ = try rig.render(10_000, blocks: [500])
        let heard = Guarded<[(Int64, Float)]>([])
        try rig.engine.installTap(on: source, bufferSize: 100) { samples, _, time in
            let first = samples[0][3]
            heard.withLock { $0.append((time, first)) }
        }
        _ = try rig.render(4_000, blocks: [64])
        let blocks = heard.withLock { $0 }
        #expect(blocks.count > 30 && blocks[0].0 >= 10_000)
        for (time, first) in blocks { #expect(abs(first - sine(Int(time) + 3, frequency: 1_000, rate: 48_000)) < 1e-6) }
    }
}
