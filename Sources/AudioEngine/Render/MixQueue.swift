// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Inputs to be added to the output together, each with a constant gain: the same sum as one by one, but faster.
struct MixQueue: BitwiseCopyable {
    private let sources: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    private let gains: UnsafeMutablePointer<Float>
    private let counts: UnsafeMutablePointer<Int>  // of each channel
    private static var room: Int { @_noLocks get { 32 } }

    init(channelCount: Int) {
        sources = .allocate(capacity: channelCount * Self.room)
        gains = .allocate(capacity: channelCount * Self.room)
        counts = .allocate(capacity: channelCount)
        counts.initialize(repeating: 0, count: channelCount)
    }

    func deallocate() {
        sources.deallocate()
        gains.deallocate()
        counts.deallocate()
    }

    @_noLocks
    func add(
        _ from: UnsafeMutablePointer<Float>, _ gain: Float, to channel: Int, of output: Channels, _ frameCount: Int
    ) {
        guard gain != 0 else { return }
        if counts[channel] == MixQueue.room { flush(channel, output, frameCount) }
        let at = channel &* MixQueue.room &+ counts[channel]
        sources[at] = from
        gains[at] = gain
        counts[channel] &+= 1
    }

    @_noLocks
    func flush(_ output: Channels, _ frameCount: Int) {
        for c in 0..<output.count { flush(c, output, frameCount) }
    }

    @_noLocks
    private func flush(_ channel: Int, _ output: Channels, _ frameCount: Int) {
        guard counts[channel] > 0 else { return }
        let at = channel &* MixQueue.room
        mixSamples(output[channel], sources + at, gains + at, inputCount: counts[channel], frameCount)
        counts[channel] = 0
    }
}
