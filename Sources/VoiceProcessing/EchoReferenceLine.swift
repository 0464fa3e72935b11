// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The mean of a graph's output channels, delayed for the echo canceller at its input.
///
/// The input renders before the output, so the echo canceller reads the output of the previous block. That is early enough: an
/// echo cannot arrive before the device has played the block.
package final class EchoReferenceLine {
    /// The memory that the render thread uses; valid while its line lives.
    package struct Memory {
        private static var length: Int { @_noLocks get { 8_192 } }
        fileprivate let samples: UnsafeMutablePointer<Float>
        fileprivate let block: Channels
        fileprivate let delay: Int
        private var writePosition = 0
        private var readPosition = 0

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
                samples[(writePosition &+ i) & (Self.length &- 1)] = sum * share
            }
            writePosition &+= frameCount
        }

        /// Makes the next read begin at the end of the output written so far. Output may have been written before the input
        /// renders for the first time, since a graph that fades out also writes.
        @_noLocks
        package mutating func begin() { readPosition = writePosition }

        /// Returns the next frames in one channel, valid until the next read.
        @_noLocks
        package mutating func next(_ frameCount: Int) -> Channels {
            for i in 0..<frameCount {
                let position = readPosition &- delay &+ i
                block[0][i] = position >= 0 && position < writePosition ? samples[position & (Self.length &- 1)] : 0
            }
            readPosition &+= frameCount
            return block
        }
    }

    package let memory: UnsafeMutablePointer<Memory>
    private let block: AudioBuffer

    /// - Parameters:
    ///   - delay: the delay of a read after the output, in frames.
    ///   - frameCapacity: the maximum frames of a read.
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
