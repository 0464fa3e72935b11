// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@Suite struct ChannelsTests {
    @Test(arguments: [1, 2, 3, 32], [1, 7, 256])
    func aBufferIsSilentPlanarAndItsChannelsAreApart(channelCount: Int, frameCapacity: Int) {
        let buffer = AudioBuffer(channelCount: channelCount, frameCapacity: frameCapacity)
        #expect(buffer.channels.count == channelCount && buffer.frameCapacity == frameCapacity)
        for c in 0..<channelCount {
            #expect((0..<frameCapacity).allSatisfy { buffer.channels[c][$0] == 0 })
            for i in 0..<frameCapacity { buffer.channels[c][i] = Float(c * 1000 + i) }
        }
        for c in 0..<channelCount {
            #expect((0..<frameCapacity).allSatisfy { buffer.channels[c][$0] == Float(c * 1000 + $0) })
        }
    }

    @Test(arguments: [0, 1, 3, 8])
    func copyingAndClearingTouchOnlyTheirSamples(count: Int) {
        let from = MarkedBlock(channelCount: 1, frameCapacity: 16)
        let to = MarkedBlock(channelCount: 1, frameCapacity: 16)
        from.fill(position: 50, frameCount: 16, offset: 0)
        copySamples(to.channels[0] + 4, from.channels[0], count)
        #expect(to.holds(position: 50, frameCount: count, offset: 4))
        clearSamples(to.channels[0] + 4, count)
        #expect(
            (0..<16).allSatisfy { to.channels[0][$0] == ((4..<4 + count).contains($0) ? 0 : MarkedBlock.guardWord) })
    }

    @Test func `NaN and infinite samples are copied as 0 and counted`() {
        let from: [Float] = [1, 9, .nan, 9, -.infinity, 9, -2, 9, .infinity, .nan, .leastNonzeroMagnitude, 9]
        var to = [Float](repeating: 5, count: 7)
        #expect(copyFiniteSamples(&to, from, 6, stride: 2) == 3)
        #expect(to == [1, 0, 0, -2, 0, .leastNonzeroMagnitude, 5])
        #expect(copyFiniteSamples(&to, from, 3) == 1 && to[0...3] == [1, 9, 0, -2])
        #expect(copyFiniteSamples(&to, from, 0) == 0)
    }

    @Test(arguments: [-3, -1, 0, 1, 3])
    func movingKeepsOverlappingSamples(distance: Int) {
        let block = MarkedBlock(channelCount: 1, frameCapacity: 16)
        block.fill(position: 9, frameCount: 6, offset: 5)
        moveSamples(block.channels[0] + 5 + distance, block.channels[0] + 5, 6)
        #expect((0..<6).allSatisfy { block.channels[0][5 + distance + $0] == MarkedBlock.mark(9 + $0, 0) })
    }
}
