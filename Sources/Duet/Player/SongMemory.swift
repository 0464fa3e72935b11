// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The memory of a song that its thread shares with the playing render thread.
package final class SongMemory: Sendable {
    /// The song at the device's rate. ``SongSource`` writes it.
    let ring: AudioRing
    /// The orders for the render thread. One thread writes them.
    let orders = MessageQueue<SongOrder>(capacity: 64)
    /// The parts of the played blocks. A full queue drops new parts: after 11 s with blocks of 64 frames at 48 kHz.
    let played = MessageQueue<PlayedBlock>(capacity: 8_192)
    /// The number of frames ever written to the ring after which the song ends; -1 if more follow.
    let end = LatestValue(-1)
    /// False while the song is silent. It goes on in its place.
    let isAudible = LatestValue(true)
    /// The device's rate in hertz.
    let sampleRate: Double
    private let block: AudioBuffer
    private let state: State

    private struct State: @unchecked Sendable {  // one render thread uses it
        let renderer: UnsafeMutablePointer<SongRenderer>
    }

    /// - Parameters:
    ///   - channelCount: the channels of the call.
    ///   - sampleRate: the device's nominal rate in hertz.
    ///   - capacity: the frames of the ring, rounded up to a power of two; at least four of the longest blocks.
    package init(channelCount: Int, sampleRate: Double, capacity: Int) {
        self.sampleRate = sampleRate
        ring = AudioRing(channelCount: channelCount, capacity: max(capacity, 4 * IOCycle.maximumFrameCount))
        block = AudioBuffer(channelCount: channelCount, frameCapacity: IOCycle.maximumFrameCount)
        state = State(renderer: .allocate(capacity: 1))
        state.renderer.initialize(
            to: SongRenderer(
                ring: ring.reader, orders: orders.reader, played: played.writer, end: end.reader,
                isAudible: isAudible.reader, block: block.channels, sampleRate: sampleRate))
    }

    deinit {
        state.renderer.deinitialize(count: 1)
        state.renderer.deallocate()
    }

    /// Copies the input to the output and adds the song. Valid while this object lives.
    package var callback: RenderCallback {
        RenderCallback(context: UnsafeMutableRawPointer(state.renderer)) { context, cycle in
            guard let context, let cycle else { return }
            context.assumingMemoryBound(to: SongRenderer.self).pointee.process(
                cycle.assumingMemoryBound(to: IOCycle.self).pointee)
        }
    }
}
