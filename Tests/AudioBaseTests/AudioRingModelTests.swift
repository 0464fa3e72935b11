// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

/// Performs the same 240,000 random operations on the ring and on ``RingModel``, and compares every sample.
@Suite struct AudioRingModelTests {
    @Test(arguments: [1, 2, 3, 8, 100, 512], [1, 2, 3])
    func theRingIsItsModel(capacity: Int, channelCount: Int) {
        let seed = UInt64(capacity * 10 + channelCount)
        #expect(firstDifference(capacity: capacity, channelCount: channelCount, seed: seed, operations: 13_500) == nil)
    }

    @Test func theComparisonFindsAModelThatDiffers() {
        #expect(firstDifference(capacity: 8, channelCount: 1, seed: 1, operations: 1_000, modelCapacity: 7) != nil)
    }

    private func firstDifference(
        capacity: Int, channelCount: Int, seed: UInt64, operations: Int, modelCapacity: Int? = nil
    ) -> String? {
        let ring = AudioRing(channelCount: channelCount, capacity: capacity)
        var model = RingModel(capacity: modelCapacity ?? ring.capacity)
        var random = SeededRandom(seed: seed)
        let room = 2 * ring.capacity + 16
        let source = MarkedBlock(channelCount: channelCount, frameCapacity: room)
        let sink = MarkedBlock(channelCount: channelCount, frameCapacity: room)
        for operation in 0..<operations {
            let size = Self.size(ring.capacity, held: model.held.count, &random)
            let offset = Int.random(in: 0...(room - size), using: &random)
            let what: String
            switch Int.random(in: 0..<16, using: &random) {
            case 0..<7:
                what = "write \(size)"
                source.fill(position: model.offered, frameCount: size, offset: offset)
                let stored = ring.writer.write(source.channels, frameCount: size, offset: offset)
                guard stored == model.write(size) else { return "\(operation): \(what): stored \(stored)" }
            case 7:
                what = "skip \(size)"
                ring.writer.skip(size)
                model.skip(size)
            default:
                let bound =
                    Bool.random(using: &random) ? Int.max : Int.random(in: 0...(ring.capacity + 1), using: &random)
                what = "read \(size) holding at most \(bound)"
                sink.wipe()
                let slice = ring.reader.read(sink.channels, frameCount: size, offset: offset, holdingAtMost: bound)
                let end = model.end
                let expected = model.read(size, holdingAtMost: bound)
                guard slice.frameCount == expected.count else { return "\(operation): \(what): \(slice)" }
                guard sink.holds(position: slice.position, frameCount: slice.frameCount, offset: offset) else {
                    return "\(operation): \(what): a sample is not of its frame, or what was not read was touched"
                }
                let fits =
                    expected.first.map { $0 == slice.position }
                    ?? (end...(model.held.first ?? model.offered)).contains(slice.position)
                guard fits else { return "\(operation): \(what): at \(slice.position), not \(expected)" }
            }
            guard ring.writer.heldFrames == model.held.count, ring.reader.offeredFrames == model.offered,
                Bool.random(using: &random) || ring.reader.heldFrames == model.held.count
            else { return "\(operation): after \(what): the counts differ" }
        }
        return nil
    }

    /// Returns an interesting size: 0, 1, odd, the held or free frames, the capacity, one more, or too many.
    private static func size(_ capacity: Int, held: Int, _ random: inout SeededRandom) -> Int {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: Int.random(in: 0...1, using: &random)
        case 1: held
        case 2: capacity - held
        case 3: capacity - held + 1
        case 4: Int.random(in: 0..<8, using: &random) == 0 ? capacity + 1 : capacity
        case 5: Int.random(in: 0...(2 * capacity), using: &random)
        default: Int.random(in: 0...max(1, capacity / 3), using: &random) | 1
        }
    }
}
