// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import Testing

@Suite struct FileFeederTests {
    private func file(_ folder: Folder, frames: Int, channels: Int, rate: Double) throws -> String {
        let path = folder.path("in.wav")
        let writer = try AudioFileWriter(path: path, format: AudioFormat(sampleRate: rate, channelCount: channels))
        let sound = tone(frames: frames, channels: channels, rate: rate)
        try writer.write(sound.channels, frameCount: frames)
        try writer.close()
        return path
    }

    /// Reads the ring until the feeder is at its end and the ring is empty.
    private func pull(_ feeder: FileFeeder, _ ring: AudioRing, block: Int) -> [[Float]] {
        let buffer = AudioBuffer(channelCount: ring.channelCount, frameCapacity: block)
        var heard = [[Float]](repeating: [], count: ring.channelCount)
        while true {
            let atEnd = feeder.isAtEnd
            let slice = ring.reader.read(buffer.channels, frameCount: block)
            #expect(slice.frameCount == 0 || slice.position == heard[0].count, "the feeder left a gap")
            for c in 0..<ring.channelCount { heard[c] += samples(buffer, c, 0..<slice.frameCount) }
            if slice.frameCount < block {
                if atEnd && slice.frameCount == 0 { return heard }
                feeder.wakeup.wake()
                usleep(200)
            }
        }
    }

    @Test("The whole file passes through the ring", arguments: [1, 64, 333, 4096], [1, 777, 20_000])
    func whole(block: Int, frames: Int) throws {
        let folder = try Folder()
        let ring = AudioRing(channelCount: 2, capacity: 2048)
        let feeder = try FileFeeder(
            AudioFileReader(path: try file(folder, frames: frames, channels: 2, rate: 48_000)), into: ring,
            sampleRate: 48_000)
        feeder.prime()
        #expect(ring.reader.heldFrames == min(frames, 2048))
        #expect(feeder.isAtEnd == (frames < 2048))
        try feeder.start()
        let heard = pull(feeder, ring, block: block)
        #expect(feeder.framesFed == frames && feeder.frameCount == frames && feeder.error == nil)
        let sound = tone(frames: frames, channels: 2)
        for c in 0..<2 { #expect(heard[c] == samples(sound, c, 0..<frames)) }
        feeder.stop()
        feeder.stop()
    }

    @Test("Mono is copied to both channels, and stereo is averaged to mono", arguments: [(1, 2), (2, 1), (2, 3)])
    func channels(from: Int, to: Int) throws {
        let folder = try Folder()
        let ring = AudioRing(channelCount: to, capacity: 16_384)
        let feeder = try FileFeeder(
            AudioFileReader(path: try file(folder, frames: 5000, channels: from, rate: 48_000)), into: ring,
            sampleRate: 48_000)
        try feeder.start()
        let heard = pull(feeder, ring, block: 100)
        let sound = tone(frames: 5000, channels: from)
        let sides = (0..<from).map { samples(sound, $0, 0..<5000) }
        switch (from, to) {
        case (1, _): #expect(heard == [sides[0], sides[0]])
        case (2, 1): #expect(errorDecibels(heard[0], (0..<5000).map { (sides[0][$0] + sides[1][$0]) / 2 }) < -120)
        default: #expect(heard == sides + [[Float](repeating: 0, count: 5000)])
        }
    }

    @Test(
        "The file is converted to the card's sample rate",
        arguments: [(44_100.0, 48_000.0), (48_000, 44_100), (16_000, 48_000)])
    func rates(from: Double, to: Double) throws {
        let folder = try Folder()
        let ring = AudioRing(channelCount: 1, capacity: 4096)
        let feeder = try FileFeeder(
            AudioFileReader(path: try file(folder, frames: 9001, channels: 1, rate: from)), into: ring, sampleRate: to)
        try feeder.start()
        let heard = pull(feeder, ring, block: 256)[0]
        let expected = Int((9001 * to / from).rounded())
        #expect(heard.count == expected && feeder.frameCount == expected)
        let sound = tone(frames: expected, rate: to)
        let inner = 200..<expected - 200  // the tone begins and ends hard: its edges ring
        #expect(errorDecibels(Array(heard[inner]), samples(sound, 0, inner)) < -75)
    }

    @Test func aTruncatedFileEndsTheFeedAndTheRingStaysUsable() throws {
        let folder = try Folder()
        let path = try file(folder, frames: 30_000, channels: 1, rate: 48_000)
        let flac = folder.path("cut.flac")
        #expect(try run("sox", path, flac).status == 0)
        let data = try Data(contentsOf: URL(fileURLWithPath: flac))
        try data.prefix(data.count / 2).write(to: URL(fileURLWithPath: flac))
        let ring = AudioRing(channelCount: 1, capacity: 1024)
        let feeder = try FileFeeder(AudioFileReader(path: flac), into: ring, sampleRate: 48_000)
        try feeder.start()
        let heard = pull(feeder, ring, block: 64)[0]
        #expect(feeder.isAtEnd && heard.count < 30_000)
    }
}
