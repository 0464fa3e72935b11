// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The mean of what a graph's output played, delayed for the echo canceller at its input.
///
/// The input renders before the output does, so it hears what was played a block before. That is early enough: an echo
/// comes no sooner than the device plays the block.
package final class EchoReferenceLine {
    /// The render thread's part; valid while its line lives.
    package struct Memory {
        private static var length: Int { @_noLocks get { 8_192 } }
        fileprivate let samples: UnsafeMutablePointer<Float>
        fileprivate let block: Channels
        fileprivate let delay: Int
        private var written = 0
        private var read = 0

        fileprivate init(block: Channels, delay: Int) {
            samples = .allocate(capacity: Self.length)
            samples.initialize(repeating: 0, count: Self.length)
            self.block = block
            self.delay = delay
        }

        /// Keeps the mean of the channels that are played.
        @_noLocks
        package mutating func write(_ channels: Channels, offset: Int, frameCount: Int) {
            let share = 1 / Float(channels.count < 1 ? 1 : channels.count)
            for i in 0..<frameCount {
                var sum: Float = 0
                for c in 0..<channels.count { sum += channels[c][offset &+ i] }
                samples[(written &+ i) & (Self.length &- 1)] = sum * share
            }
            written &+= frameCount
        }

        /// Makes the next read begin at what is played now. The output may have been heard before the input is: a graph that
        /// fades out writes too.
        @_noLocks
        package mutating func begin() { read = written }

        /// Returns the next frames, one channel, valid until the next read.
        @_noLocks
        package mutating func next(_ frameCount: Int) -> Channels {
            for i in 0..<frameCount {
                let at = read &- delay &+ i
                block[0][i] = at >= 0 && at < written ? samples[at & (Self.length &- 1)] : 0
            }
            read &+= frameCount
            return block
        }
    }

    package let memory: UnsafeMutablePointer<Memory>
    private let block: AudioBuffer

    /// - Parameters:
    ///   - delay: frames by which a read is late.
    ///   - frameCapacity: the longest read in frames.
    package init(delay: Int, frameCapacity: Int) {
        block = AudioBuffer(channelCount: 1, frameCapacity: frameCapacity)
        memory = .allocate(capacity: 1)
        memory.initialize(to: Memory(block: block.channels, delay: delay))
    }

    deinit {
        memory.pointee.samples.deallocate()
        memory.deallocate()
    }
}
