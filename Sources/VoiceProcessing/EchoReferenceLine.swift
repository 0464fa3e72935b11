// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The mean of a graph's output channels, delayed for the echo canceller at its input.
///
/// The input renders before the output, so it reads the output of the previous block. That is early enough: an echo cannot arrive
/// before the device has played the block.
package final class EchoReferenceLine {
    /// The render thread's part; valid during the life of its line.
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

        /// Stores the mean of the played channels.
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

        /// Makes the next read begin at the current output. The output may have been written before the input renders for the
        /// first time, since a graph that fades out also writes.
        @_noLocks
        package mutating func begin() { read = written }

        /// Returns the next frames in one channel, valid until the next read.
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
    ///   - delay: the delay of a read in frames.
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
