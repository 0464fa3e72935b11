// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Glibc
import Synchronization

/// Receives a block of a tap, and the engine's frame counter at the block's first frame. Never called on the render thread.
public typealias AudioTapBlock = @Sendable (_ samples: Channels, _ frameCount: Int, _ sampleTime: Int64) -> Void

/// Reads a node's output: the render thread fills a ring, and the engine's own thread empties it.
final class NodeTap: Sendable {
    private let frameCount: Int
    private let block: AudioTapBlock
    private let wakeup: Wakeup
    private let resources = LockedValue(Resources())
    /// Locked while blocks are delivered, so that they stay in order.
    private let serving = LockedValue(())
    /// The `pthread_t` of the thread that delivers blocks; 0 if none does. A block that stops the engine causes another call of
    /// ``serve(all:)`` on the same thread, which returns at once.
    private let deliveringThread = Atomic<UInt>(0)

    private struct Resources: @unchecked Sendable {  // under a lock
        var format: AudioFormat?
        var ring: AudioRing?
        var buffer: AudioBuffer?
        var state: RenderState?
    }

    init(frameCount: Int, wakeup: Wakeup, block: @escaping AudioTapBlock) {
        self.frameCount = max(1, frameCount)
        self.wakeup = wakeup
        self.block = block
    }

    /// Returns the render state that fills the ring. Under the engine's lock.
    func state(_ format: AudioFormat) -> RenderState {
        if let state = resources.withLock({ $0.format == format ? $0.state : nil }) { return state }
        let ring = AudioRing(
            channelCount: format.channelCount, capacity: max(Int(format.sampleRate), 4 * frameCount))
        let state = RenderMemory(
            TapState(ring: ring.writer, wakeup: wakeup.handle), keeping: [ring, wakeup], function: TapState.function)
        let buffer = AudioBuffer(channelCount: format.channelCount, frameCapacity: frameCount)
        resources.withLock { $0 = Resources(format: format, ring: ring, buffer: buffer, state: state) }
        return state
    }

    /// Discards the render state, so that the next one counts frames from 0. Frames in the ring can still be delivered. Under the
    /// engine's lock.
    func dropState() {
        resources.withLock {
            $0.format = nil
            $0.state = nil
        }
    }

    /// Returns a closure that restores the tap's present state.
    func restoration() -> () -> Void {
        let savedResources = resources.withLock { $0 }
        return { self.resources.withLock { $0 = savedResources } }
    }

    /// Passes the frames in the ring to the tap's block.
    /// - Parameter all: true to deliver the last, shorter block too.
    func serve(all: Bool = false) {
        let currentThread = UInt(pthread_self())
        guard deliveringThread.load(ordering: .relaxed) != currentThread else { return }
        serving.withLock { _ in
            deliveringThread.store(currentThread, ordering: .relaxed)
            defer { deliveringThread.store(0, ordering: .relaxed) }
            let current = resources.withLock { $0 }
            guard let ring = current.ring, let buffer = current.buffer else { return }
            while ring.writer.heldFrames >= (all ? 1 : frameCount) {
                let slice = ring.reader.read(buffer.channels, frameCount: frameCount)
                guard slice.frameCount > 0 else { return }
                block(buffer.channels, slice.frameCount, Int64(slice.position))
            }
        }
    }
}
