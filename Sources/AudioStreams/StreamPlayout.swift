// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// The render thread's side of a stream: it plays frames from the ring, and silence while there are none.
///
/// The control side decides when the ring may be played and from which frame on; earlier frames are dropped.
final class StreamPlayout: Sendable {
    let ring: AudioRing
    /// Reads the ring, on the render thread or on a reader's thread. It uses memory of this object and must not outlive it.
    let renderer: StreamRenderer

    init(ring: AudioRing, sampleRate: Double) {
        self.ring = ring
        renderer = StreamRenderer(
            ring: ring.reader, fadeLength: max(1, Int(sampleRate * 0.005)), shared: .allocate(capacity: 1),
            fade: .allocate(capacity: 1))
        renderer.shared.initialize(to: StreamRenderer.Shared())
        renderer.fade.initialize(to: StreamRenderer.Fade())
    }

    deinit {
        renderer.shared.deinitialize(count: 1)
        renderer.shared.deallocate()
        renderer.fade.deallocate()
    }

    /// True if enough is buffered to play. The control side sets and clears it; the render side clears it when the ring runs
    /// empty.
    var isOpen: Bool {
        get { renderer.shared.pointee.isOpen.load(ordering: .acquiring) }
        set { renderer.shared.pointee.isOpen.store(newValue, ordering: .releasing) }
    }
    /// True if the stream's last frame is or was in the ring.
    var isComplete: Bool {
        get { renderer.shared.pointee.isComplete.load(ordering: .acquiring) }
        set { renderer.shared.pointee.isComplete.store(newValue, ordering: .releasing) }
    }
    /// True if playback has paused for so long that the last sound needs no fade.
    var isSuspended: Bool {
        get { renderer.shared.pointee.isSuspended.load(ordering: .acquiring) }
        set { renderer.shared.pointee.isSuspended.store(newValue, ordering: .releasing) }
    }
    /// The difference, in frames, between a frame's position in the sound and its position among all frames written to the ring.
    var shift: Int {
        get { renderer.shared.pointee.shift.load(ordering: .acquiring) }
        set { renderer.shared.pointee.shift.store(newValue, ordering: .releasing) }
    }
    /// Frames rendered so far.
    var framesPlayed: Int { renderer.shared.pointee.framesPlayed.load(ordering: .acquiring) }
    /// Reads by the render side so far.
    var pulls: Int { renderer.shared.pointee.pulls.load(ordering: .acquiring) }
    /// The position in the sound of the next frame to be played.
    var framePosition: Int {
        max(
            renderer.shared.pointee.framesTaken.load(ordering: .acquiring),
            renderer.shared.pointee.discardEnd.load(ordering: .acquiring)) + shift
    }
    /// Buffered frames that will be played. For the ring's writing thread.
    var heldFrames: Int {
        let held = ring.writer.heldFrames
        return min(held, ring.reader.offeredFrames - renderer.shared.pointee.discardEnd.load(ordering: .relaxed))
    }

    /// Makes the render side drop all frames now in the ring. For the ring's writing thread.
    func discardHeld() {
        renderer.shared.pointee.discardEnd.store(ring.reader.offeredFrames, ordering: .releasing)
    }

    // MARK: Seeking

    /// Begins a seek: silence plays until ``endSeek(_:)`` is called with the seek's number. Safe on any thread except the render
    /// thread, one at a time.
    /// - Returns: the seek's number.
    func beginSeek() -> Int { renderer.shared.pointee.seekBegun.add(1, ordering: .acquiringAndReleasing).newValue }

    /// Declares that the frames now in the ring and later ones belong to this seek's target.
    func endSeek(_ number: Int) { renderer.shared.pointee.seekEnded.store(number, ordering: .releasing) }

    /// True from the beginning of a seek until its end: the buffered frames are at most faded out.
    var isSeeking: Bool { renderer.isSeeking }
}
