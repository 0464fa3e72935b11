// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioEngine
import EarshotAudioFiles
import EngineMeasures
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioQueues

@Suite(.optimized) struct AudioPlayerTests {
    private func tone(_ frame: Int) -> Float { sine(frame, frequency: 100, rate: 48_000) }

    @Test(arguments: [[256], [1, 999], [8_192]])
    func `a file plays exactly to its last sample, and the player then stops`(blocks: [Int]) throws {
        let rig = QueueRig()
        let file = try TemporaryFile((0..<30_001).map(numbered))
        let player = try AudioPlayer(path: file.path, on: rig.engine)
        #expect(player.frameCount() == 30_001 && abs(player.duration - 30_001 / 48_000) < 1e-9)
        try rig.start()
        try player.play()
        let heard = try rig.render(40_000, blocks: blocks)
        #expect(Array(heard[..<30_001]) == (0..<30_001).map(numbered))
        #expect(heard[30_001...].allSatisfy { $0 == 0 })
        #expect(!player.isPlaying && player.queue.statistics.underrun == 0)
        try player.play()  // again from the beginning
        #expect(try rig.render(30_001, blocks: blocks) == (0..<30_001).map(numbered))
    }

    @Test func `playlist files and loops join without a gap`() throws {
        let rig = QueueRig()
        let lengths = [10_007, 1, 4_800, 20_000]
        var files: [TemporaryFile] = []
        var first = 0
        for length in lengths {
            files.append(try TemporaryFile((first..<first + length).map(numbered)))
            first += length
        }
        let player = try AudioPlayer(format: rig.format, on: rig.engine)
        for (k, file) in files.enumerated() { try player.append(path: file.path, loops: k == 2 ? 2 : 0) }
        var wanted = (0..<14_808).map(numbered)
        for _ in 0..<2 { wanted += (10_008..<14_808).map(numbered) }
        wanted += (14_808..<34_808).map(numbered)
        try rig.start()
        try player.play()
        #expect(try rig.render(wanted.count, blocks: [480]) == wanted)
        #expect(player.queue.statistics.underrun == 0)
    }

    @Test func `a file appended while the last one ends follows without a gap`() throws {
        let rig = QueueRig()
        let file = try TemporaryFile((0..<12_000).map(numbered))
        let player = try AudioPlayer(path: file.path, on: rig.engine)
        try rig.start()
        try player.play()
        var heard = try rig.render(11_000, blocks: [500])
        try player.append(path: file.path)
        heard += try rig.render(13_000, blocks: [500])
        #expect(heard == (0..<12_000).map(numbered) + (0..<12_000).map(numbered))
        #expect(player.queue.statistics.underrun == 0)
    }

    @Test func `a seek is exact to the frame and does not click`() throws {
        let rig = QueueRig()
        let file = try TemporaryFile((0..<480_000).map(tone))
        let player = try AudioPlayer(path: file.path, on: rig.engine)
        try rig.start()
        try player.play()
        var meter = ClickMeter()
        for (k, frame) in [400_123, 17, 90_000, 399_999].enumerated() {
            let heard = try rig.render(24_000, blocks: [300])
            for sample in heard { meter.add(sample) }
            try player.seek(to: frame)
            if k == 1 { #expect(player.framePosition == 17) }
            let after = try rig.render(4_800, blocks: [300])
            for sample in after { meter.add(sample) }
            // 10 ms of the old sound, then exactly the new frame; the fade-in takes 10 ms more.
            for i in 960..<4_800 { #expect(after[i] == tone(frame + i - 480)) }
            #expect(player.framePosition == frame + 4_320)
        }
        #expect(meter.level < -55)
        #expect(player.queue.statistics.underrun == 0)
        #expect(throws: AudioPlayerError.self) { try player.seek(to: 0, item: 1) }
    }

    @Test func `seeking works before playback and while paused`() throws {
        let rig = QueueRig()
        let file = try TemporaryFile((0..<48_000).map(tone))
        let player = try AudioPlayer(path: file.path, on: rig.engine)
        try rig.start()
        try player.seek(to: 5_000)
        #expect(player.framePosition == 5_000)
        try player.play()
        var heard = try rig.render(2_000)
        #expect(Array(heard[480...]) == (5_480..<7_000).map(tone))
        player.pause()
        try rig.render(2_000)
        #expect(!player.isPlaying && player.framePosition == 7_480)
        try player.seek(to: 30_000)
        try rig.render(1_000)
        #expect(player.framePosition == 30_000)
        try player.play()
        heard = try rig.render(2_000)
        #expect(Array(heard[480...]) == (30_480..<32_000).map(tone))
        try player.seek(to: 1_000_000)  // behind the end is the end
        try rig.render(4_800)
        #expect(!player.isPlaying)
    }

    @Test func `playback after a stop starts with the first item`() throws {
        let rig = QueueRig()
        let file = try TemporaryFile((0..<48_000).map(numbered))
        let player = try AudioPlayer(path: file.path, on: rig.engine)
        try rig.start()
        for rest in [2_000, 0] {
            try player.play()
            try rig.render(10_000, blocks: [400])
            player.stop()
            #expect(!player.isPlaying)
            try rig.render(rest, blocks: [400])
            try player.play()
            let heard = try rig.render(10_000, blocks: [400])
            // Without a rest the old sound fades out first.
            let first = rest == 0 ? 480 : 0
            #expect(Array(heard[first...]) == (0..<10_000 - first).map(numbered))
            player.stop()
            try rig.render(2_000, blocks: [400])
        }
    }

    @Test func `progress is reported during playback across loops and files`() throws {
        let rig = QueueRig()
        let file = try TemporaryFile((0..<10_000).map(tone))
        let player = try AudioPlayer(path: file.path, on: rig.engine, loops: 1)
        try player.append(path: file.path)
        try rig.start()
        try player.play()
        for k in 1...29 {
            try rig.render(1_000, blocks: [250])
            let at = k * 1_000
            #expect(player.currentItem == (at < 20_000 ? 0 : 1))
            #expect(player.framePosition == at % 10_000)
        }
    }

    @Test(arguments: [0.25, 0.5, 0.8, 1.25, 2, 4])
    func `a changed speed keeps the pitch`(speed: Double) throws {
        let rig = QueueRig()
        let file = try TemporaryFile((0..<96_000).map { sine($0, frequency: 437.31, rate: 48_000) })
        let player = try AudioPlayer(path: file.path, on: rig.engine)
        player.rate = speed
        try rig.start()
        try player.play()
        let heard = try rig.render(Int(96_000 / speed) + 10_000, blocks: [1_000])
        let last = try #require(heard.lastIndex { abs($0) > 0.01 })
        #expect(abs(last - Int(96_000 / speed)) < 100)
        let crossings = heard[1_000..<last - 1_000].indices.dropLast().filter { heard[$0] < 0 && heard[$0 + 1] >= 0 }
        let periods = Double(crossings.count - 1)
        let frequency = periods * 48_000 / Double(try #require(crossings.last) - crossings[0])
        #expect(abs(1_200 * log2(frequency / 437.31)) < 3, "\(frequency) Hz")
        #expect(!player.isPlaying)
    }

    @Test func `speed changes during playback do not click`() throws {
        let rig = QueueRig()
        let file = try TemporaryFile((0..<1_000_000).map(tone))
        let player = try AudioPlayer(path: file.path, on: rig.engine)
        try rig.start()
        try player.play()
        var meter = ClickMeter()
        for speed in [1, 1.5, 0.5, 1, 4, 0.25, 1] {
            player.rate = speed
            for sample in try rig.render(24_000, blocks: [512]) { meter.add(sample) }
            let before = player.framePosition
            for sample in try rig.render(4_800, blocks: [512]) { meter.add(sample) }
            #expect(abs(Double(player.framePosition - before) - 4_800 * speed) < 1_300)
        }
        #expect(meter.level < -50, "\(meter.level) dBFS")
    }

    @Test func `a file with another rate and channel count is converted`() throws {
        let rig = QueueRig()
        let file = try TemporaryFile(
            (0..<44_100).map { sine($0, frequency: 1_000, rate: 44_100) }, rate: 44_100, channels: 2)
        let player = try AudioPlayer(format: rig.format, on: rig.engine)
        try player.append(path: file.path)
        try rig.start()
        try player.play()
        let heard = try rig.render(48_000)
        #expect(sineDefect(Array(heard[1_000..<47_000]), frequency: 1_000, rate: 48_000) < -80)
    }

    /// A reader that fails in the middle.
    private final class Damaged: SoundFileReader {
        let path = "damaged"
        let processingFormat = AudioFormat(sampleRate: 48_000, channelCount: 1)
        let frameCount = 10_000
        var framePosition = 0
        func read(into channels: Channels, frameCount: Int, offset: Int) throws(AudioFileError) -> Int {
            guard framePosition < 3_072 else { throw .damaged(path: path, reason: "for the test") }
            let count = min(frameCount, 3_072 - framePosition)
            for i in 0..<count { channels[0][offset + i] = numbered(framePosition + i) }
            framePosition += count
            return count
        }
        func seek(to frame: Int) throws(AudioFileError) { throw .notSeekable(path: path) }
    }

    @Test func `a damaged file is reported, and the next one plays`() async throws {
        let rig = QueueRig()
        let file = try TemporaryFile((0..<5_000).map(numbered))
        let player = try AudioPlayer(format: rig.format, on: rig.engine)
        var events = player.events.makeAsyncIterator()
        player.append(Damaged(), loops: 3)
        try player.append(path: file.path)
        try rig.start()
        try player.play()
        let heard = try rig.render(12_000)
        #expect(heard.contains(numbered(1_000)) && heard.contains(numbered(4_999)))
        var seen: [String] = []
        while let event = await events.next() {
            switch event {
            case .failed(let item, .file(.damaged)): seen.append("failed \(item)")
            case .itemEnded(let item): seen.append("ended \(item)")
            case .finished: seen.append("finished")
            default: seen.append("other")
            }
            if case .finished = event { break }
        }
        #expect(seen.first == "failed 0" && seen.suffix(2).contains("ended 1") && seen.last == "finished")
        #expect(throws: AudioPlayerError.self) { try AudioPlayer(path: "/nowhere.wav", on: rig.engine) }
        player.append(Damaged())
        #expect(throws: AudioPlayerError.self) { try player.seek(to: 100, item: 2) }
    }

    @Test func `playback starts at a frame set before the engine starts`() throws {
        let rig = QueueRig()
        let file = try TemporaryFile((0..<10_000).map(numbered))
        let player = try AudioPlayer(path: file.path, on: rig.engine)
        try player.play(at: .sample(4_800))
        try rig.start()
        let heard = try rig.render(14_800, blocks: [480])
        #expect(heard == [Float](repeating: 0, count: 4_800) + (0..<10_000).map(numbered))
    }

    @Test func `property changes are reported with the values in effect`() async throws {
        let rig = QueueRig(channels: 2)
        let player = try AudioPlayer(format: rig.format, on: rig.engine)
        var events = player.events.makeAsyncIterator()
        player.volume = 9
        player.pan = 0.5
        player.rate = 1.5
        player.rate = 100
        try player.setVolume(0.25, fadeDuration: 1)
        var seen: [AudioQueueEvent.Property] = []
        while seen.count < 5, case .changed(let property)? = await events.next() { seen.append(property) }
        #expect(seen == [.volume(8), .pan(0.5), .rate(1.5), .rate(4), .volume(0.25)])
    }

    @Test func `the volume fades within the given time`() throws {
        let rig = QueueRig()
        let file = try TemporaryFile([Float](repeating: 0.5, count: 96_000))
        let player = try AudioPlayer(path: file.path, on: rig.engine)
        try rig.start()
        try player.play()
        try rig.render(4_800)
        try player.setVolume(0, fadeDuration: 0.5)
        let heard = try rig.render(28_800)
        #expect(heard[12_000] > 0.2 && heard[12_000] < 0.3 && heard[24_500] == 0)
    }
}
