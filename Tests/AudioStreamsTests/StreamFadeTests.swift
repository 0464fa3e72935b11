// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotAudioStreams

/// Measures the largest step where the sound ends or is left, on virtual time: there must be no click.
@Suite struct StreamFadeTests {
    /// Returns the largest step from a sample to the next.
    private func step(_ samples: [Float]) -> Float {
        zip(samples, samples.dropFirst()).reduce(0) { max($0, abs($1.1 - $1.0)) }
    }

    /// The steepest step of a tone of 440 Hz at 0.4.
    private static let steepest: Float = 0.4 * 2 * .pi * 440 / 44_100

    @Test(arguments: [1, 64, 441, 2_048, 8_000], [300_000, 300_004, 301_111])
    func `a stall fades out and in within 5 ms, and all other sound is unchanged`(block: Int, held: Int) throws {
        let bytes = try Sound.wav.bytes
        let whole = try reference(.wav)
        let rig = try CoreRig()
        rig.answer()
        rig.send(bytes.prefix(held))
        rig.advance(2.5, block: block)
        #expect(rig.states.last == .buffering)
        rig.send(bytes.dropFirst(held))
        rig.end()
        rig.advance(4, block: block)
        #expect(rig.states.last == .ended && rig.core.statistics.stalls == 1)
        let heard = rig.heard[0]
        #expect(heard.count == whole.count)
        let changed = heard.indices.filter { heard[$0] != whole[$0] }
        #expect(changed.count <= 2 * 220 && (changed.last ?? 0) - (changed.first ?? 0) < 2 * 220, "\(changed.count)")
        // Up to the end of the sound, where the file is cut.
        let end = rig.output.lastIndex { $0 != 0 } ?? 0
        #expect(step(Array(rig.output[..<end])) < 1.1 * Self.steepest)
        #expect(rig.output.contains { abs($0) > 0.39 })
    }

    @Test func `a stream without a stall is unchanged`() throws {
        let rig = try CoreRig()
        rig.answer()
        rig.send(try Sound.wav.bytes)
        rig.end()
        rig.advance(4, block: 333)
        #expect(rig.heard[0] == (try reference(.wav)))
    }

    @Test func `a seek does not click`() throws {
        let bytes = try Sound.wav.bytes
        let rig = try CoreRig()
        rig.serve(bytes)
        rig.advance(1.003, block: 100)
        rig.seek(to: 100_100)
        rig.advance(0.1, block: 100)
        rig.serve(bytes)
        rig.advance(0.3, block: 100)
        rig.seek(to: 7)
        rig.advance(0.1, block: 100)
        rig.serve(bytes)
        rig.advance(1, block: 100)
        #expect(step(rig.output) < 1.1 * Self.steepest)
        #expect(rig.heard[0].count > 90_000)
    }

    @Test func `a file can be paused indefinitely`() throws {
        let rig = try CoreRig()
        rig.serve(try Sound.wav.bytes)
        rig.advance(1)
        rig.idle(3_600)
        rig.advance(4)
        #expect(rig.heard[0] == (try reference(.wav)) && rig.core.statistics.framesDropped == 0)
    }

    @Test func `a station resumes in place after a short pause and live after a long one`() throws {
        let bytes = try Sound.live.bytes
        let rig = try CoreRig()
        rig.answer(200, ["icy-name": "Radio"])
        for _ in 0..<3 { rig.send(bytes) }
        rig.advance(2)
        rig.idle(8)
        #expect(rig.states.last == .playing)
        rig.advance(1)
        #expect(rig.heard[0].count == rig.output.count && !rig.output.suffix(40_000).contains { $0 == 0 })
        rig.send(bytes.prefix(4_096))
        let held = rig.playout.heldFrames
        rig.idle(13)
        #expect(rig.states.last == .suspended && rig.actions.last == .disconnect)
        #expect(rig.core.statistics.framesDropped == held && held > 200_000)
        let asked = rig.actions.count
        rig.idle(3_600)
        #expect(rig.actions.count == asked)
        // Playback continues.
        rig.advance(0.1)
        #expect(rig.output.suffix(4_000).allSatisfy { $0 == 0 })
        #expect(rig.actions.last == .connect(try StreamAddress("http://radio.example/live"), offset: 0))
        #expect(rig.states.last == .buffering)
        rig.answer(200, ["icy-name": "Radio"])
        rig.send(bytes)
        let from = rig.output.count
        rig.advance(1)
        #expect(rig.states.last == .playing && step(Array(rig.output[from...])) < 1.2 * Self.steepest)
        #expect(rig.heard[0].count > 4 * 44_100 - 2_000)
        #expect(rig.playout.framePosition == rig.heard[0].count + held && rig.core.statistics.stalls == 0)
    }
}
