// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import TestSupport
import Testing

@testable import EarshotCall

/// One device for both directions, or one for each.
@Suite struct CallProcessorTests {
    private static let block = 64

    /// A block with a ramp as input, and room for output.
    private final class Card {
        let input = AudioBuffer(channelCount: 2, frameCapacity: block)
        let output = AudioBuffer(channelCount: 2, frameCapacity: block)
        let none: Channels
        private let pointers: UnsafeMutablePointer<UnsafeMutablePointer<Float>>

        init() {
            pointers = .allocate(capacity: 1)
            pointers.initialize(to: input.channels[0])
            none = Channels(pointers, count: 0)
        }

        deinit { pointers.deallocate() }

        func cycle(_ number: Int, captures: Bool = true, plays: Bool = true) -> IOCycle {
            for c in 0..<2 {
                for i in 0..<block {
                    input.channels[c][i] = Float(number * block + i) / 10_000 * (c == 0 ? 1 : -0.5)
                    output.channels[c][i] = 0
                }
            }
            return IOCycle(
                frameCount: block, sampleTime: Int64(number * block),
                hostTime: HostTime(nanoseconds: Int64(number) * 1_333_333), inputLatency: 0, outputLatency: 0,
                input: captures ? input.channels : none,
                output: plays ? output.channels : none)
        }
    }

    @Test func `separate input and output devices give the same capture, levels and cycles as one device`() {
        let card = Card()
        let both = CallProcessor(channelCount: 2, deviceRate: 48_000, wakeup: Wakeup())
        let apart = CallProcessor(channelCount: 2, deviceRate: 48_000, wakeup: Wakeup())
        both.mixer.setPulled(true)
        apart.mixer.setPulled(true)
        var (one, other): ([Float], [Float]) = ([], [])
        for number in 0..<20 where number != 11 {  // one that the cards skip
            var cycle = card.cycle(number)
            both.callback(&cycle)
            var out = card.cycle(number, captures: false)
            apart.playbackCallback(&out)
            var into = card.cycle(number, plays: false)
            apart.captureCallback(&into)
            one += taken(both)
            other += taken(apart)
        }
        // The ring's reader is told which frames were skipped.
        #expect(one == other && one.count == 2 * 19 * Self.block && one.contains { $0 > 0.1 })
        #expect(
            both.levels.spoken.meanSquare == apart.levels.spoken.meanSquare
                && both.levels.spokenPeak == apart.levels.spokenPeak)
        #expect(both.levels.spokenPeak > 0.1)
        for _ in 0..<19 {
            let (one, other) = (both.cycles.pop(), apart.cycles.pop())
            #expect(one?.sampleTime == other?.sampleTime && one != nil)
        }
        #expect(both.cycles.pop() == nil && apart.cycles.pop() == nil)
    }

    @Test func `a mono call captures the mean of two inputs, and a stereo call captures each input`() {
        let card = Card()
        for count in 1...2 {
            let processor = CallProcessor(channelCount: count, deviceRate: 48_000, wakeup: Wakeup())
            var cycle = card.cycle(1, plays: false)
            processor.captureCallback(&cycle)
            let block = AudioBuffer(channelCount: count, frameCapacity: Self.block)
            let slice = processor.captured.reader.read(block.channels, frameCount: Self.block)
            #expect(slice.frameCount == Self.block && slice.position == 0)
            for i in 0..<Self.block {
                let (left, right) = (card.input.channels[0][i], card.input.channels[1][i])
                if count == 1 {
                    #expect(abs(block.channels[0][i] - (left + right) / 2) < 1e-7)
                } else {
                    #expect(block.channels[0][i] == left && block.channels[1][i] == right)
                }
            }
        }
    }

    @Test func `a device without inputs captures silence, and frames that it skips are a gap in the ring`() {
        let card = Card()
        let processor = CallProcessor(channelCount: 2, deviceRate: 48_000, wakeup: Wakeup())
        let block = AudioBuffer(channelCount: 2, frameCapacity: Self.block)
        var positions: [Int] = []
        for number in [4, 5, 8, 9] {
            var cycle = card.cycle(number, captures: false, plays: false)
            processor.captureCallback(&cycle)
            let slice = processor.captured.reader.read(block.channels, frameCount: Self.block)
            positions.append(slice.position)
            #expect(slice.frameCount == Self.block && block.channels[0][5] == 0 && block.channels[1][63] == 0)
        }
        #expect(positions == [0, 64, 256, 320])
    }

    /// A change of the device may take less than 50 ms, and its first and last blocks may have no fades.
    @Test(arguments: [1, 20, 200]) func `an effect that delays the sound makes no step of a gap`(lostBlocks: Int) {
        let card = Card()
        let processor = CallProcessor(channelCount: 1, deviceRate: 48_000, wakeup: Wakeup())
        processor.effects.set(TestInsert.make(delay: 100).insert)
        let block = AudioBuffer(channelCount: 1, frameCapacity: Self.block)
        var heard: [Float] = []
        for number in 0..<200 {
            var cycle = card.cycle(number < 100 ? number : number + lostBlocks, plays: false)
            processor.captureCallback(&cycle)
            let slice = processor.captured.reader.read(block.channels, frameCount: Self.block)
            if number >= 100 { heard += UnsafeBufferPointer(start: block.channels[0], count: slice.frameCount) }
        }
        let steepest = zip(heard, heard.dropFirst()).map { abs($0 - $1) }.max() ?? 1
        // The sound rises by 1 / 40,000 a frame, also during the gap and the crossfade.
        let allowed = 1 / 40_000 + Float(64 * lostBlocks + 240) / 40_000 * 1.6 / 240
        #expect(heard.count == 6_400 && steepest < allowed, "\(steepest)")
    }

    private func taken(_ processor: CallProcessor) -> [Float] {
        let block = AudioBuffer(channelCount: 2, frameCapacity: Self.block)
        var all: [Float] = []
        while case let slice = processor.captured.reader.read(block.channels, frameCount: Self.block),
            slice.frameCount > 0
        {
            for c in 0..<2 {
                all.append(contentsOf: UnsafeBufferPointer(start: block.channels[c], count: slice.frameCount))
            }
        }
        return all
    }
}
