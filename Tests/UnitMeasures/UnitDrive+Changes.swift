// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

extension UnitDrive {
    /// New values of every parameter at a frame.
    public struct Change: Sendable {
        /// The frame before which the change happens.
        public var frame: Int
        /// In the order of the description.
        public var values: [Float]
        /// The frames until the values are reached.
        public var over: Int

        /// Creates a change from these parts.
        public init(at frame: Int, _ values: [Float], over: Int) {
            self.frame = frame
            self.values = values
            self.over = over
        }
    }

    /// Renders like ``render(_:_:blocks:)``, with parameter changes on the way: blocks end at each change.
    public static func render(_ unit: UnitInstance, _ input: [[Float]], blocks: [Int], changes: [Change]) -> [[Float]] {
        let frames = input[0].count
        let from = AudioBuffer(channelCount: unit.inputChannelCount, frameCapacity: max(1, frames))
        let to = AudioBuffer(channelCount: unit.outputChannelCount, frameCapacity: max(1, frames))
        return withExtendedLifetime((from, to)) {
            for c in 0..<min(input.count, unit.inputChannelCount) {
                for i in 0..<frames { from.channels[c][i] = input[c][i] }
            }
            var left = changes[...]
            var (at, k) = (0, 0)
            while at < frames {
                while let change = left.first, change.frame <= at {
                    unit.set(change.values, over: change.over)
                    left = left.dropFirst()
                }
                var count = min(blocks[k % blocks.count], frames - at)
                if let change = left.first { count = min(count, change.frame - at) }
                unit.process(from.channels, to.channels, offset: at, frameCount: count)
                at += count
                k += 1
            }
            return (0..<unit.outputChannelCount).map { c in (0..<frames).map { to.channels[c][$0] } }
        }
    }

    /// A linear ramp between values as the engine makes it, in pieces of 32 frames. Parameters that are not continuous change
    /// with the first piece.
    public static func ramp(
        _ description: UnitDescription, from: [Float], to: [Float], at frame: Int, over frameCount: Int
    ) -> [Change] {
        let pieces = max(1, frameCount / UnitRamp.segment)
        return (1...pieces).map { piece in
            let share = Float(piece) / Float(pieces)
            let values = description.parameters.indices.map { p in
                guard description.parameters[p].unit.isContinuous, piece < pieces else { return to[p] }
                return from[p] + (to[p] - from[p]) * share
            }
            return Change(at: frame + (piece - 1) * UnitRamp.segment, values, over: UnitRamp.segment)
        }
    }
}
