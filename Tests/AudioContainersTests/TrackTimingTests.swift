// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import Testing

@testable import EarshotAudioContainers

/// The range of the sound in the decoded frames, as other encoders declare it.
@Suite struct TrackTimingTests {
    private func sound(_ timing: TrackTiming) -> Range<Int> {
        timing.sound(decodedFrames: 100 * 1_024, framesPerPacket: 1_024, sampleRate: 44_100)
    }

    @Test func `a track without timing information plays completely`() {
        #expect(sound(TrackTiming()) == 0..<102_400)
        #expect(sound(TrackTiming(timescale: 44_100)) == 0..<102_400)
    }

    @Test func `an exact edit trims both ends, a coarse one leaves the end to the media duration`() {
        var timing = TrackTiming(
            timescale: 44_100, mediaDuration: 102_400, editStart: 2_112, editTimescale: 44_100, editDuration: 99_000)
        #expect(sound(timing) == 2_112..<101_112)
        // To the nearest thousandth: 99,999 frames are 2,268 of them, minus 20.
        timing = TrackTiming(
            timescale: 44_100, mediaDuration: 101_023, editStart: 1_024, editTimescale: 1_000, editDuration: 2_268)
        #expect(sound(timing) == 1_024..<101_023)
        // A coarse clock that cuts many frames is believed.
        timing.editDuration = 1_000
        #expect(sound(timing) == 1_024..<45_124)
    }

    @Test func `a media clock at half the rate counts two frames per tick`() {
        let timing = TrackTiming(
            timescale: 22_050, mediaDuration: 51_200, editStart: 1_024, editTimescale: 22_050, editDuration: 40_000)
        #expect(sound(timing) == 2_048..<82_048)
    }

    @Test func `Apple's gapless comment takes precedence over an edit`() {
        let edit = TrackTiming(
            timescale: 44_100, mediaDuration: 102_400, editStart: 7, editTimescale: 600, editDuration: 9)
        var timing = edit
        timing.gapless = MovieScanner.gapless(" 00000000 00000840 000001CA 0000000000017000 00000000")
        #expect(sound(timing) == 2_112..<2_112 + 0x17000)
        timing.gapless = MovieScanner.gapless(" 00000000 00000840 000001CA 0000000FFFFFFFFF")  // longer than the file
        #expect(sound(timing) == sound(edit))
        for comment in ["", "x y z w", " 0 FFFFFFFF 0 10", " 0 -840 0 10", " 0 840 0 0", " 0 840 0 -10"] {
            #expect(MovieScanner.gapless(comment) == nil, "\(comment)")
        }
        // No comment makes the sound begin before the first packet or overflow.
        for lie in [(-2_112, 16), (0, Int.max), (Int.max - 16, 16), (0, 0), (2_112, -16), (-1, Int.max)] {
            timing.gapless = lie
            #expect(sound(timing) == sound(edit), "\(lie)")
        }
    }

    @Test(arguments: [Int.max, Int.max / 2, 1 << 40])
    func `absurd timings are clamped to the track`(_ lie: Int) {
        for timing in [
            TrackTiming(timescale: 44_100, mediaDuration: lie, editStart: lie, editTimescale: 1, editDuration: lie),
            TrackTiming(timescale: lie, mediaDuration: 1, editStart: lie, editTimescale: lie, editDuration: 1),
            TrackTiming(timescale: 1, mediaDuration: 0, editStart: 0, editTimescale: 44_100, editDuration: lie),
        ] {
            let range = sound(timing)
            #expect(range.lowerBound >= 0 && range.upperBound <= 102_400)
        }
    }

    @Test func `edits and tracks are read from the boxes of a file`() throws {
        let folder = try Folder()
        let said = AudioContainersTests.sound(frames: 50_000)
        let path = folder.path("a.m4a")
        try write(
            said, frames: 50_000,
            to: AACFileWriter(path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 2)))
        let boxes = MovieBoxes(try ReadableFile(path))
        #expect(boxes.timescale == 48_000 && !boxes.isFragmented)
        #expect(boxes.edits == [1: MovieBoxes.Edit(start: 1_024, duration: 50_000)])

        // Another encoder has a longer priming and less padding.
        let all = try contents(path)[0]
        var other = try bytes(path)
        let elst = try #require(other.indices.dropLast(4).last { other[$0..<$0 + 4].elementsEqual("elst".utf8) })
        other.replaceSubrange(elst + 12..<elst + 20, with: [0, 0, 0x9C, 0x40, 0, 0, 0x08, 0x40])
        let heard = try contents(folder.file("b.m4a", other))[0]
        #expect(heard == Array(all[2_112 - 1_024..<2_112 - 1_024 + 40_000]))
    }

    @Test func `Apple's gapless comment in a file is applied`() throws {
        let folder = try Folder()
        let said = AudioContainersTests.sound(frames: 50_000)
        let path = folder.path("a.m4a")
        try write(
            said, frames: 50_000,
            to: AACFileWriter(path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 2)))
        let all = try contents(path)[0]
        var bytes = try bytes(path)
        let movie = try #require(bytes.indices.dropLast(4).last { bytes[$0..<$0 + 4].elementsEqual("moov".utf8) }) - 4
        var box = BoxWriter()
        box.box("udta") {
            $0.fullBox("meta") {
                $0.fullBox("hdlr") {
                    $0.put32(0)
                    $0.put("mdirappl")
                    $0.zeros(9)
                }
                $0.box("ilst") {
                    $0.box("----") {
                        $0.fullBox("mean") { $0.put("com.apple.iTunes") }
                        $0.fullBox("name") { $0.put("iTunSMPB") }
                        $0.box("data") {
                            $0.put32(1)
                            $0.put32(0)
                            $0.put(" 00000000 00000840 00000000 0000000000009C40 00000000")
                        }
                    }
                }
            }
        }
        let size = bytes.count - movie + box.bytes.count
        for i in 0..<4 { bytes[movie + i] = UInt8(truncatingIfNeeded: size >> (24 - 8 * i)) }
        let heard = try contents(folder.file("b.m4a", bytes + box.bytes))[0]
        #expect(heard == Array(all[2_112 - 1_024..<2_112 - 1_024 + 40_000]))
    }
}
