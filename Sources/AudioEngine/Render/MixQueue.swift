// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Queues input channels and adds them to the output together, each with a constant gain. The sum is the same as one by one, but
/// faster.
struct MixQueue: BitwiseCopyable {
    private let sources: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
    private let gains: UnsafeMutablePointer<Float>
    private let counts: UnsafeMutablePointer<Int>  // the queued inputs of each output channel
    private static var inputCapacity: Int { @_noLocks get { 32 } }

    init(channelCount: Int) {
        sources = .allocate(capacity: channelCount * Self.inputCapacity)
        gains = .allocate(capacity: channelCount * Self.inputCapacity)
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
        if counts[channel] == MixQueue.inputCapacity { flush(channel, output, frameCount) }
        let slot = channel &* MixQueue.inputCapacity &+ counts[channel]
        sources[slot] = from
        gains[slot] = gain
        counts[channel] &+= 1
    }

    @_noLocks
    func flush(_ output: Channels, _ frameCount: Int) {
        for c in 0..<output.count { flush(c, output, frameCount) }
    }

    @_noLocks
    private func flush(_ channel: Int, _ output: Channels, _ frameCount: Int) {
        guard counts[channel] > 0 else { return }
        let slot = channel &* MixQueue.inputCapacity
        mixSamples(output[channel], sources + slot, gains + slot, inputCount: counts[channel], frameCount)
        counts[channel] = 0
    }
}
