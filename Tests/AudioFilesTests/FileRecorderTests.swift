// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import Testing

@Suite struct FileRecorderTests {
    @Test("Samples written to the ring are recorded in the file", arguments: [1, 63, 480, 1024])
    func recording(block: Int) throws {
        let folder = try Folder()
        let ring = AudioRing(channelCount: 2, capacity: 4096)
        let path = folder.path("out.wav")
        let recorder = try FileRecorder(
            makeWriter(path, AudioFormat(sampleRate: 48_000, channelCount: ring.channelCount)), from: ring)
        try recorder.start()
        let sound = tone(frames: 20_000, channels: 2)
        var at = 0
        while at < 20_000 {
            let frames = min(block, 20_000 - at)
            while ring.capacity - ring.writer.heldFrames < frames {
                recorder.wakeup.wake()
                usleep(200)
            }
            #expect(ring.writer.write(sound.channels, frameCount: frames, offset: at))
            at += frames
        }
        recorder.stop()
        recorder.stop()
        #expect(recorder.error == nil && recorder.lostFrameCount == 0 && recorder.gapCount == 0)
        #expect(recorder.frameCount == 20_000)
        let heard = try contents(path)
        for c in 0..<2 { #expect(heard[c] == samples(sound, c, 0..<20_000)) }
    }

    @Test func lostFramesAreSilenceAndTheTimelineHolds() throws {
        let folder = try Folder()
        let ring = AudioRing(channelCount: 1, capacity: 1024)
        let path = folder.path("gap.wav")
        let recorder = try FileRecorder(
            makeWriter(path, AudioFormat(sampleRate: 48_000, channelCount: ring.channelCount)), from: ring)
        let sound = tone(frames: 6000)
        ring.writer.write(sound.channels, frameCount: 500)
        ring.writer.skip(77)  // a device's xrun
        try recorder.start()
        while ring.writer.heldFrames > 0 { usleep(500) }
        ring.writer.write(sound.channels, frameCount: 1000, offset: 577)
        while ring.writer.heldFrames > 0 { usleep(500) }
        ring.writer.write(sound.channels, frameCount: 1025, offset: 1577)  // more than it holds: rejected
        ring.writer.write(sound.channels, frameCount: 300, offset: 2602)
        while ring.writer.heldFrames > 0 { usleep(500) }
        ring.writer.skip(98)  // lost at the very end
        recorder.stop()
        #expect(recorder.error == nil)
        #expect(recorder.lostFrameCount == 77 + 1025 + 98 && recorder.gapCount == 3)
        let heard = try contents(path)[0]
        var expected = samples(sound, 0, 0..<3000)
        for i in Array(500..<577) + Array(1577..<2602) + Array(2902..<3000) { expected[i] = 0 }
        #expect(heard == expected)
    }

    @Test func aRecorderThatNeverStartedStillWritesWhatTheRingHolds() throws {
        let folder = try Folder()
        let ring = AudioRing(channelCount: 1, capacity: 64)
        let path = folder.path("short.wav")
        do {
            let recorder = try FileRecorder(
                makeWriter(path, AudioFormat(sampleRate: 8_000, channelCount: ring.channelCount), sampleFormat: .int16),
                from: ring)
            let sound = tone(frames: 7, rate: 8_000)
            ring.writer.write(sound.channels, frameCount: 7)
            #expect(recorder.frameCount == 0)
        }
        #expect(try contents(path)[0].count == 7)
    }

    @Test func aFullDiskEndsTheRecordingAndNeverHoldsUpTheCard() throws {
        let disk = try SmallDisk(kilobytes: 64)
        let path = disk.path + "/out.wav"
        let ring = AudioRing(channelCount: 1, capacity: 4096)
        let recorder = try FileRecorder(
            makeWriter(path, AudioFormat(sampleRate: 48_000, channelCount: ring.channelCount)), from: ring)
        try recorder.start()
        let sound = tone(frames: 480)
        while recorder.error == nil {
            ring.writer.write(sound.channels, frameCount: 480)
            recorder.wakeup.wake()
            usleep(200)
        }
        #expect(recorder.error == .diskFull(path: path))
        for _ in 0..<50 { ring.writer.write(sound.channels, frameCount: 480) }
        #expect(!ring.writer.write(sound.channels, frameCount: 480))
        recorder.stop()
        let heard = try contents(path)[0]
        #expect(heard.count == recorder.frameCount && heard.count > 10_000)
        #expect(Array(heard[0..<480]) == samples(sound, 0, 0..<480))
    }
}
