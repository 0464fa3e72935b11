// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// The render thread's side of a stream: frames out of the ring, silence while there are none.
///
/// Its control side says when the ring may be played and from which frame on; the frames before that are left out.
final class StreamPlayout: Sendable {
    let ring: AudioRing
    /// For the render thread; must not outlive this object.
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

    /// Returns true if there is enough to be played. Only this side opens it; the other closes it where it runs out.
    var isOpen: Bool {
        get { renderer.shared.pointee.isOpen.load(ordering: .acquiring) }
        set { renderer.shared.pointee.isOpen.store(newValue, ordering: .releasing) }
    }
    /// Returns true if the last frame there will be is in the ring, or was.
    var isComplete: Bool {
        get { renderer.shared.pointee.isComplete.load(ordering: .acquiring) }
        set { renderer.shared.pointee.isComplete.store(newValue, ordering: .releasing) }
    }
    /// Returns true if playback has paused for long, so that the last sound needs no fade.
    var isSuspended: Bool {
        get { renderer.shared.pointee.isSuspended.load(ordering: .acquiring) }
        set { renderer.shared.pointee.isSuspended.store(newValue, ordering: .releasing) }
    }
    /// Added to a frame's place among all that went through the ring, it is its place in the sound.
    var shift: Int {
        get { renderer.shared.pointee.shift.load(ordering: .acquiring) }
        set { renderer.shared.pointee.shift.store(newValue, ordering: .releasing) }
    }
    /// Frames that were rendered.
    var framesPlayed: Int { renderer.shared.pointee.framesPlayed.load(ordering: .acquiring) }
    /// Grows with each call of the other side.
    var pulls: Int { renderer.shared.pointee.pulls.load(ordering: .acquiring) }
    /// The place in the sound of the frame that is played next.
    var framePosition: Int {
        max(
            renderer.shared.pointee.framesTaken.load(ordering: .acquiring),
            renderer.shared.pointee.discardEnd.load(ordering: .acquiring)) + shift
    }
    /// Frames held that are to be played. For the ring's writing thread.
    var heldFrames: Int {
        let held = ring.writer.heldFrames
        return min(held, ring.reader.offeredFrames - renderer.shared.pointee.discardEnd.load(ordering: .relaxed))
    }

    /// All that the ring holds is left out. For its writing thread.
    func discardHeld() {
        renderer.shared.pointee.discardEnd.store(ring.reader.offeredFrames, ordering: .releasing)
    }

    // MARK: Seeking

    /// Silence from now on, until this seek has been done. Any thread but the render thread, one at a time.
    /// - Returns: the seek's number.
    func beginSeek() -> Int { renderer.shared.pointee.seekBegun.add(1, ordering: .acquiringAndReleasing).newValue }

    /// Notes that the held and coming sound is of this seek's goal.
    func endSeek(_ number: Int) { renderer.shared.pointee.seekEnded.store(number, ordering: .releasing) }

    /// Returns true if what is held is of no use.
    var isSeeking: Bool { renderer.isSeeking }
}
