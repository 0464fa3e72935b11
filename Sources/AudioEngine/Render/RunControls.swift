// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// The atomics that a player or a queue shares with its render side: which run it is in, from when, what is stale, where the
/// end is, and what the render side has counted.
package final class RunControls: Sendable {
    /// The render side's view, which must not outlive the controls.
    package struct Handle: @unchecked Sendable, BitwiseCopyable {  // atomics
        fileprivate let values: UnsafeMutablePointer<Atomic<Int>>

        fileprivate subscript(slot: Slot) -> UnsafeMutablePointer<Atomic<Int>> {
            @_noLocks get { values + slot.rawValue }
        }
        fileprivate subscript(counter: Counter) -> UnsafeMutablePointer<Atomic<Int>> {
            @_noLocks get { values + (Slot.firstCounter.rawValue &+ counter.rawValue) }
        }

        /// The number of the run; 0 while it stands still, of a queue that records minus the run that was halted.
        package var run: Int { @_noLocks get { self[.run].pointee.load(ordering: .acquiring) } }
        /// The frame, at its own rate, before which it does nothing.
        package var start: Int64 { @_noLocks get { frame(Int64(self[.start].pointee.load(ordering: .relaxed))) } }
        /// The frames before this place of a player, the buffers up to this one of a queue, are stale.
        package var flushed: Int { @_noLocks get { self[.flushed].pointee.load(ordering: .acquiring) } }
        /// The place of a player behind which no more comes, the last buffer of a queue; `Int.max` while there is no end.
        package var end: Int { @_noLocks get { self[.end].pointee.load(ordering: .acquiring) } }
        /// A factor of speed in 2^-32; 0 if it is not to be changed.
        package var rate: Int { @_noLocks get { self[.rate].pointee.load(ordering: .relaxed) } }

        /// One of the engine's frames at its own rate; `Int64.min` stays.
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
        /// Publishes the next frame.
        @_noLocks
        package func report(_ next: Int64) { self[.next].pointee.store(Int(next), ordering: .releasing) }
        /// Publishes the number of restarts of the engine.
        @_noLocks
        package func report(starts: Int) { self[.starts].pointee.store(starts, ordering: .releasing) }
        /// Publishes the buffer being played and the frames played of it.
        @_noLocks
        package func report(sequence: Int, frame: Int) {
            self[.next].pointee.store(sequence &<< 24 | (frame & 0xFF_FFFF), ordering: .releasing)
        }
    }

    /// Numbers that the render thread counts up.
    package enum Counter: Int { case played, underrun, overrun, late, skipped }

    /// The places of the atomics. A ``Counter`` each follows `firstCounter`; `next` is a frame or, of a queue that plays, the buffer
    /// and its frame; `ratio` has the bits of a `Double`.
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

    /// Sets the ratio of its rate to the engine's.
    package func setRatio(_ ratio: Double) {
        handle[.ratio].pointee.store(Int(Int64(bitPattern: ratio.bitPattern)), ordering: .relaxed)
    }
    /// Begins a run, which does nothing before `start`, one of the engine's frames.
    package func begin(run: Int, at start: Int64) {
        handle[.start].pointee.store(Int(clamping: start), ordering: .relaxed)
        handle[.run].pointee.store(run, ordering: .releasing)
    }
    /// Ends a run of a queue that records.
    package func halt(_ run: Int) { handle[.run].pointee.store(-run, ordering: .releasing) }
    package func halt() { handle[.run].pointee.store(0, ordering: .releasing) }
    package func flush(to place: Int) { handle[.flushed].pointee.store(place, ordering: .releasing) }
    package func end(at place: Int) { handle[.end].pointee.store(place, ordering: .releasing) }
    package func setRate(_ rate: Float) {
        handle[.rate].pointee.store(Int(Double(rate) * 0x1p32), ordering: .relaxed)
    }
    /// The frame that comes next, of a player or a queue that records; 0 before the first.
    package var next: Int { handle[.next].pointee.load(ordering: .acquiring) }
    /// Restarts of the engine since a recording queue first saw it.
    package var starts: Int { handle[.starts].pointee.load(ordering: .acquiring) }
    /// The buffer that is heard, and how much of it was.
    package var place: (sequence: Int, frame: Int) {
        let value = handle[.next].pointee.load(ordering: .acquiring)
        return (value >> 24, value & 0xFF_FFFF)
    }
    package subscript(counter: Counter) -> Int { handle[counter].pointee.load(ordering: .acquiring) }
}
