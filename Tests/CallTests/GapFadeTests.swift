// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotCall

@Suite struct GapFadeTests {
    @Test func `the sound before a gap falls to silence in 5 ms, and other sound is unchanged`() {
        var gapFade = GapFade(sampleRate: 48_000)
        let block = AudioBuffer(channelCount: 2, frameCapacity: 64)
        var heard: [[Float]] = [[], []]
        for n in 0..<20 {
            if n == 10 { gapFade.begin() }
            for c in 0..<2 { for i in 0..<64 { block.channels[c][i] = n < 10 ? 0.5 - Float(c) : 0 } }
            gapFade.process(block.channels, 64)
            for c in 0..<2 { heard[c] += UnsafeBufferPointer(start: block.channels[c], count: 64) }
        }
        for (c, level) in [(0, Float(0.5)), (1, -0.5)] {
            #expect(heard[c][..<640].allSatisfy { $0 == level } && heard[c][880...].allSatisfy { $0 == 0 })
            #expect(zip(heard[c], heard[c].dropFirst()).allSatisfy { abs($0 - $1) < 0.0035 })
        }
    }

    @Test(arguments: [0.5, 0.0, -0.25] as [Float])
    func `sound that begins abruptly after a gap joins the sound before it`(level: Float) {
        var gapFade = GapFade(sampleRate: 48_000)
        let block = AudioBuffer(channelCount: 1, frameCapacity: 64)
        var heard: [Float] = []
        for n in 0..<20 {
            if n == 10 { gapFade.begin() }
            for i in 0..<64 { block.channels[0][i] = n < 10 ? level : -0.5 }
            gapFade.process(block.channels, 64)
            heard += UnsafeBufferPointer(start: block.channels[0], count: 64)
        }
        #expect(heard[..<640].allSatisfy { $0 == level } && heard[880...].allSatisfy { $0 == -0.5 })
        #expect(zip(heard, heard.dropFirst()).allSatisfy { abs($0 - $1) < 0.0065 })
    }
}
