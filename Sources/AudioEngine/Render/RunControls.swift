// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// The atomics that a player or queue shares with its render thread: the run and its start, the stale frames, the end, and
/// counters.
package final class RunControls: Sendable {
    /// The render thread's access to the controls. A handle must not outlive the controls.
    package struct Handle: @unchecked Sendable, BitwiseCopyable {  // atomics
        fileprivate let values: UnsafeMutablePointer<Atomic<Int>>

        fileprivate subscript(slot: Slot) -> UnsafeMutablePointer<Atomic<Int>> {
            @_noLocks get { values + slot.rawValue }
        }
        fileprivate subscript(counter: Counter) -> UnsafeMutablePointer<Atomic<Int>> {
            @_noLocks get { values + (Slot.firstCounter.rawValue &+ counter.rawValue) }
        }

        /// The number of the run; 0 while stopped. In an input queue that was halted, the negative number of that run.
        package var run: Int { @_noLocks get { self[.run].pointee.load(ordering: .acquiring) } }
        /// The frame at which the run starts, counted at the player's or queue's rate.
        package var start: Int64 { @_noLocks get { frame(Int64(self[.start].pointee.load(ordering: .relaxed))) } }
        /// The position of a player before which frames are stale, or the number of a queue's last stale buffer.
        package var flushed: Int { @_noLocks get { self[.flushed].pointee.load(ordering: .acquiring) } }
        /// The position after a player's last frame, or the number of a queue's last buffer; `Int.max` without an end.
        package var end: Int { @_noLocks get { self[.end].pointee.load(ordering: .acquiring) } }
        /// An output queue's speed in units of 2⁻³²; 0 for the normal speed, until a speed is set.
        package var rate: Int { @_noLocks get { self[.rate].pointee.load(ordering: .relaxed) } }

        /// Converts the engine's frame counter to the player's or queue's rate; keeps `Int64.min`, which means now.
        @_noLocks
        package func frame(_ time: Int64) -> Int64 {
            if time == .min { return time }
            let ratio = Double(bitPattern: UInt64(bitPattern: Int64(self[.ratio].pointee.load(ordering: .relaxed))))
            let frames = Double(time) * ratio
            return Int64(frames < 0 ? frames - 0.5 : frames + 0.5)
        }

        @_noLocks
        package func endRun(_ run: Int) {
            _ = self[.run].pointee.compareExchange(expected: run, desired: 0, ordering: .acquiringAndReleasing)
        }
        @_noLocks
        package func add(_ frames: Int, to counter: Counter) {
            if frames != 0 { self[counter].pointee.add(frames, ordering: .relaxed) }
        }
        /// Publishes the next frame of a player or an input queue.
        @_noLocks
        package func report(_ next: Int64) { self[.next].pointee.store(Int(next), ordering: .releasing) }
        /// Publishes the number of the engine's restarts, for an input queue.
        @_noLocks
        package func report(starts: Int) { self[.starts].pointee.store(starts, ordering: .releasing) }
        /// Publishes the number of an output queue's playing buffer, and the frames played of that buffer.
        @_noLocks
        package func report(sequence: Int, frame: Int) {
            self[.next].pointee.store(sequence &<< 24 | (frame & 0xFF_FFFF), ordering: .releasing)
        }
    }

    /// Counters of the render thread.
    package enum Counter: Int { case played, underrun, overrun, late, skipped }

    /// The indices of the atomics. `firstCounter` is followed by one for each ``Counter``; `next` is a frame or, in an output
    /// queue, the buffer and its frame; `ratio` has the bits of a `Double`.
    fileprivate enum Slot: Int { case run, start, flushed, end, rate, firstCounter, next = 10, starts, ratio }

    package let handle: Handle
    private static let count = 13

    package init() {
        handle = Handle(values: .allocate(capacity: Self.count))
        for i in 0..<Self.count { (handle.values + i).initialize(to: Atomic(0)) }
        handle[.end].pointee.store(.max, ordering: .relaxed)
        setRatio(1)
    }

    deinit {
        handle.values.deinitialize(count: Self.count)
        handle.values.deallocate()
    }

    /// Sets the ratio of the player's or queue's rate to the engine's rate.
    package func setRatio(_ ratio: Double) {
        handle[.ratio].pointee.store(Int(Int64(bitPattern: ratio.bitPattern)), ordering: .relaxed)
    }
    /// Begins a run that starts at `start` on the engine's frame counter.
    package func begin(run: Int, at start: Int64) {
        handle[.start].pointee.store(Int(clamping: start), ordering: .relaxed)
        handle[.run].pointee.store(run, ordering: .releasing)
    }
    /// Ends the run of an input queue.
    package func halt(_ run: Int) { handle[.run].pointee.store(-run, ordering: .releasing) }
    package func halt() { handle[.run].pointee.store(0, ordering: .releasing) }
    package func flush(to place: Int) { handle[.flushed].pointee.store(place, ordering: .releasing) }
    package func end(at place: Int) { handle[.end].pointee.store(place, ordering: .releasing) }
    package func setRate(_ rate: Float) {
        handle[.rate].pointee.store(Int(Double(rate) * 0x1p32), ordering: .relaxed)
    }
    /// The next frame of a player or an input queue; 0 before the first.
    package var next: Int { handle[.next].pointee.load(ordering: .acquiring) }
    /// The number of engine restarts that an input queue has seen.
    package var starts: Int { handle[.starts].pointee.load(ordering: .acquiring) }
    /// The number of an output queue's playing buffer, and the frames played of that buffer.
    package var place: (sequence: Int, frame: Int) {
        let value = handle[.next].pointee.load(ordering: .acquiring)
        return (value >> 24, value & 0xFF_FFFF)
    }
    package subscript(counter: Counter) -> Int { handle[counter].pointee.load(ordering: .acquiring) }
}
