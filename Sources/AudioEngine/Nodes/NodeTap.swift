// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Glibc
import Synchronization

/// Receives a block of a tap and the engine's frame counter at its first frame. Never called on the render thread.
public typealias AudioTapBlock = @Sendable (_ samples: Channels, _ frameCount: Int, _ sampleTime: Int64) -> Void

/// Reads a node's output: the render thread fills a ring, and the engine's own thread empties it.
final class NodeTap: Sendable {
    private let frameCount: Int
    private let block: AudioTapBlock
    private let wakeup: Wakeup
    private let made = LockedValue(Made())
    /// Locked while blocks are delivered, so that they stay in order.
    private let serving = LockedValue(())
    /// The thread that delivers, or 0; a block may stop the engine, which delivers the rest.
    private let server = Atomic<UInt>(0)

    private struct Made: @unchecked Sendable {  // under a lock
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

    /// Returns the step that fills the ring. Under the engine's lock.
    func state(_ format: AudioFormat) -> RenderState {
        if let state = made.withLock({ $0.format == format ? $0.state : nil }) { return state }
        let ring = AudioRing(
            channelCount: format.channelCount, capacity: max(Int(format.sampleRate), 4 * frameCount))
        let state = RenderMemory(
            TapState(ring: ring.writer, wakeup: wakeup.handle), keeping: [ring, wakeup], function: TapState.function)
        let buffer = AudioBuffer(channelCount: format.channelCount, frameCapacity: frameCount)
        made.withLock { $0 = Made(format: format, ring: ring, buffer: buffer, state: state) }
        return state
    }

    /// Has the next state count frames from 0; stored frames can still be delivered. Under the engine's lock.
    func dropState() {
        made.withLock {
            $0.format = nil
            $0.state = nil
        }
    }

    /// Returns a closure that restores the present state.
    func restoration() -> () -> Void {
        let kept = made.withLock { $0 }
        return { self.made.withLock { $0 = kept } }
    }

    /// Delivers stored frames.
    /// - Parameter all: true to deliver the last, shorter block too.
    func serve(all: Bool = false) {
        let me = UInt(pthread_self())
        guard server.load(ordering: .relaxed) != me else { return }
        serving.withLock { _ in
            server.store(me, ordering: .relaxed)
            defer { server.store(0, ordering: .relaxed) }
            let made = made.withLock { $0 }
            guard let ring = made.ring, let buffer = made.buffer else { return }
            while ring.writer.heldFrames >= (all ? 1 : frameCount) {
                let slice = ring.reader.read(buffer.channels, frameCount: frameCount)
                guard slice.frameCount > 0 else { return }
                block(buffer.channels, slice.frameCount, Int64(slice.position))
            }
        }
    }
}
