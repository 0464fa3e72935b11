// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import Synchronization

/// A ring of planar frames between one writing and one reading thread, wait-free on both sides.
///
/// Frames are written and read whole. The writer never touches frames that were not read yet: a block that does not fit
/// is rejected, and counted. Once a block was rejected, every later one is too until the reader has emptied the ring, so
/// that what is held is always without a hole and the next gap lies between what is held and what comes. The *reader*
/// drops the oldest: it keeps at most a bound, and after a stall that overran the ring discards all that is held. Every
/// frame offered has a position in one 64-bit count, and a read says the position it starts at, so gaps are exact.
///
/// The ring owns the memory; ``writer`` and ``reader`` are handles that must not outlive it.
public final class AudioRing: Sendable {
    /// For the one writing thread.
    public let writer: Writer
    /// For the one reading thread.
    public let reader: Reader

    /// - Parameters:
    ///   - channelCount: 1 to 32.
    ///   - capacity: in frames, rounded up to a power of two; at least 2.
    public init(channelCount: Int, capacity: Int) {
        precondition(AudioFormat.channelCounts.contains(channelCount) && capacity >= 1)
        let frames = max(2, 1 << (Int.bitWidth - (capacity - 1).leadingZeroBitCount))
        let memory = AudioRingMemory(channelCount: channelCount, capacity: frames)
        writer = Writer(memory: memory)
        reader = Reader(memory: memory)
    }

    deinit { writer.memory.deallocate() }

    /// Frames the ring holds at most.
    public var capacity: Int { writer.memory.capacity }
    /// Channels in each frame.
    public var channelCount: Int { writer.memory.channelCount }
}

/// The one place of the ring's raw memory: two lines of shared counters, two of private ones, the samples.
@usableFromInline
struct AudioRingMemory: @unchecked Sendable {  // each field has one writing thread; what is shared is atomic
    /// Written by the writer, read by both.
    @usableFromInline
    struct Offer: ~Copyable {
        @usableFromInline let accepted = Atomic<Int>(0)  // frames stored since the start
        @usableFromInline let rejected = Atomic<Int>(0)  // frames not stored since the start
        @usableFromInline let rejectedBefore = Atomic<Int>(0)  // of these, those before the newest frame held
    }
    /// Written by the reader, read by both.
    @usableFromInline
    struct Take: ~Copyable {
        @usableFromInline let taken = Atomic<Int>(0)
        @usableFromInline let awaited = Atomic<Int>(1)  // frames held for which the reader wants to be woken
    }

    @usableFromInline let offer: UnsafeMutablePointer<Offer>
    @usableFromInline let take: UnsafeMutablePointer<Take>
    @usableFromInline let takenSeen: UnsafeMutablePointer<Int>  // the writer's last look at `taken`
    @usableFromInline let overrun: UnsafeMutablePointer<Bool>  // the writer's: rejecting until the ring is empty
    @usableFromInline let acceptedSeen: UnsafeMutablePointer<Int>  // the reader's last look at `accepted`
    @usableFromInline let rejectedSeen: UnsafeMutablePointer<Int>  // the reader's: rejected, and in its position
    @usableFromInline let samples: UnsafeMutablePointer<Float>
    @usableFromInline let capacity: Int
    @usableFromInline let channelCount: Int
    private let base: UnsafeMutableRawPointer

    init(channelCount: Int, capacity: Int) {
        let line = 128  // two cache lines: the prefetcher fetches pairs
        base = .allocate(byteCount: 4 * line + channelCount * capacity * 4, alignment: line)
        offer = base.bindMemory(to: Offer.self, capacity: 1)
        offer.initialize(to: Offer())
        take = (base + line).bindMemory(to: Take.self, capacity: 1)
        take.initialize(to: Take())
        takenSeen = (base + 2 * line).bindMemory(to: Int.self, capacity: 1)
        takenSeen.initialize(to: 0)
        overrun = (base + 2 * line + 8).bindMemory(to: Bool.self, capacity: 1)
        overrun.initialize(to: false)
        acceptedSeen = (base + 3 * line).bindMemory(to: Int.self, capacity: 2)
        acceptedSeen.initialize(repeating: 0, count: 2)
        rejectedSeen = acceptedSeen + 1
        samples = (base + 4 * line).bindMemory(to: Float.self, capacity: channelCount * capacity)
        samples.initialize(repeating: 0, count: channelCount * capacity)
        self.capacity = capacity
        self.channelCount = channelCount
    }

    func deallocate() {
        offer.deinitialize(count: 1)
        take.deinitialize(count: 1)
        base.deallocate()
    }
}

// Blocks that run over the end of the memory. Out of line: the block that does not is the one to be fast.
extension AudioRingMemory {
    @_noLocks @inline(never) @usableFromInline
    func copyInWrapped(_ channels: Channels, frameCount: Int, offset: Int, at: Int) {
        let first = capacity &- at
        for c in 0..<channelCount {
            let from = channels[c] + offset
            let to = samples + c &* capacity
            copySamples(to + at, from, first)
            copySamples(to, from + first, frameCount &- first)
        }
    }

    @_noLocks @inline(never) @usableFromInline
    func copyOutWrapped(_ channels: Channels, frameCount: Int, offset: Int, at: Int) {
        let first = capacity &- at
        for c in 0..<channelCount {
            let to = channels[c] + offset
            let from = samples + c &* capacity
            copySamples(to, from + at, first)
            copySamples(to + first, from, frameCount &- first)
        }
    }
}

extension AudioRing {
    /// The writing side. One thread; every method is render-safe and wait-free.
    public struct Writer: Sendable {
        @usableFromInline let memory: AudioRingMemory

        /// The same as ``write(_:frameCount:offset:)-(Channels,_,_)``.
        @_noLocks @inlinable @discardableResult
        public func write(_ channels: ReadOnlyChannels, frameCount: Int, offset: Int = 0) -> Bool {
            write(channels.channels, frameCount: frameCount, offset: offset)
        }

        /// Offers a block: it is stored whole or not at all.
        /// - Parameters:
        ///   - channels: as many as the ring has, or more (the rest is left out).
        ///   - offset: where in the channels the block begins, in frames.
        /// - Returns: true if it was stored. When not, its frames are a gap that the reader will report.
        @_noLocks @inlinable @discardableResult
        public func write(_ channels: Channels, frameCount: Int, offset: Int = 0) -> Bool {
            let m = memory
            let accepted = m.offer.pointee.accepted.load(ordering: .relaxed)
            var taken = m.takenSeen.pointee
            if m.overrun.pointee || accepted &- taken &+ frameCount > m.capacity {
                taken = m.take.pointee.taken.load(ordering: .acquiring)
                m.takenSeen.pointee = taken
                if m.overrun.pointee ? accepted != taken : accepted &- taken &+ frameCount > m.capacity {
                    skip(frameCount)
                    return false
                }
                if frameCount > m.capacity {
                    skip(frameCount)
                    return false
                }
                if m.overrun.pointee {
                    m.overrun.pointee = false
                    m.offer.pointee.rejectedBefore.store(
                        m.offer.pointee.rejected.load(ordering: .relaxed), ordering: .relaxed)
                }
            }
            let at = accepted & (m.capacity &- 1)
            if frameCount <= m.capacity &- at {
                var c = 0
                while c < m.channelCount {
                    copySamples(m.samples + (c &* m.capacity &+ at), channels[c] + offset, frameCount)
                    c &+= 1
                }
            } else {
                m.copyInWrapped(channels, frameCount: frameCount, offset: offset, at: at)
            }
            m.offer.pointee.accepted.store(accepted &+ frameCount, ordering: .releasing)
            return true
        }

        /// Counts frames that never came (a device's xrun) as a gap. What is held can still be read; until it is, blocks
        /// are rejected, since a gap lies only behind all that is held.
        @_noLocks @inlinable
        public func skip(_ frameCount: Int) {
            guard frameCount > 0 else { return }
            memory.overrun.pointee = true
            let rejected = memory.offer.pointee.rejected.load(ordering: .relaxed)
            memory.offer.pointee.rejected.store(rejected &+ frameCount, ordering: .releasing)
        }

        /// Frames stored and not yet read, as far as the writer can know: never too few.
        @inlinable
        public var heldFrames: Int {
            @_noLocks get {
                memory.offer.pointee.accepted.load(ordering: .relaxed)
                    &- memory.take.pointee.taken.load(ordering: .acquiring)
            }
        }

        /// Returns true if as many frames are held as the reader awaits: then it is to be woken. After a write; if one of this and
        /// the reader's look at what is held comes too early, the other does not.
        @inlinable
        package var hasAwaited: Bool {
            @_noLocks get {
                atomicMemoryFence(ordering: .sequentiallyConsistent)
                return heldFrames >= memory.take.pointee.awaited.load(ordering: .relaxed)
            }
        }
    }

    /// The result of a read.
    @frozen
    public struct Slice: BitwiseCopyable, Sendable {
        /// Frames read; they are without a hole.
        public var frameCount: Int
        /// The first frame's place among all frames ever offered. It exceeds the end of the last read by exactly the
        /// frames that were lost between.
        public var position: Int

        @inlinable @_noLocks
        init(frameCount: Int, position: Int) {
            self.frameCount = frameCount
            self.position = position
        }
    }

    /// The reading side. One thread; every method is render-safe and wait-free.
    public struct Reader: Sendable {
        @usableFromInline let memory: AudioRingMemory

        /// Reads up to `frameCount` frames, the oldest first, after it has discarded what is above the bound.
        /// - Parameters:
        ///   - channels: as many as the ring has, or more (the rest is left alone). What is not read is not touched.
        ///   - bound: frames to hold at most. When more are held the oldest go, or all that is held if the ring has overrun, since
        ///     it is then as stale as the ring is long.
        @_noLocks @inlinable
        public func read(_ channels: Channels, frameCount: Int, offset: Int = 0, holdingAtMost bound: Int = .max)
            -> Slice
        {
            let m = memory
            var taken = m.take.pointee.taken.load(ordering: .relaxed)
            var held = m.acceptedSeen.pointee &- taken
            if held < frameCount || bound != .max {
                held = refresh(taken)
                if held > bound {
                    let pending = m.offer.pointee.rejected.load(ordering: .acquiring) != m.rejectedSeen.pointee
                    let excess = pending ? held : held &- bound
                    taken &+= excess
                    held &-= excess
                }
            }
            let count = min(held, frameCount)
            let at = taken & (m.capacity &- 1)
            if count <= m.capacity &- at {
                var c = 0
                while c < m.channelCount {
                    copySamples(channels[c] + offset, m.samples + (c &* m.capacity &+ at), count)
                    c &+= 1
                }
            } else {
                m.copyOutWrapped(channels, frameCount: count, offset: offset, at: at)
            }
            m.take.pointee.taken.store(taken &+ count, ordering: .releasing)
            return Slice(frameCount: count, position: taken &+ m.rejectedSeen.pointee)
        }

        /// Leaves out up to `frameCount` frames, the oldest first. Returns how many there were.
        @_noLocks @inlinable @discardableResult
        public func discard(_ frameCount: Int) -> Int {
            let m = memory
            let taken = m.take.pointee.taken.load(ordering: .relaxed)
            let count = min(refresh(taken), frameCount)
            m.take.pointee.taken.store(taken &+ count, ordering: .releasing)
            return count
        }

        /// Says from how many held frames on there is something to do; 1 before anything is said. The look at
        /// ``heldFrames`` before sleep comes after it, and after ``Wakeup/prepareToSleep()``.
        @_noLocks @inlinable
        package func await(_ frameCount: Int) {
            memory.take.pointee.awaited.store(frameCount, ordering: .relaxed)
        }

        /// Frames that can be read now without a hole.
        @inlinable
        public var heldFrames: Int {
            @_noLocks get { refresh(memory.take.pointee.taken.load(ordering: .relaxed)) }
        }

        /// All frames ever offered, stored or not: the position behind the newest.
        @inlinable
        package var offeredFrames: Int {
            @_noLocks get {
                let offer = memory.offer
                return offer.pointee.accepted.load(ordering: .acquiring)
                    &+ offer.pointee.rejected.load(ordering: .acquiring)
            }
        }

        /// Looks at the writer's counters. Frames stored after a gap are only ever stored into an empty ring, so that
        /// `rejectedBefore` cannot change while any are held, and one value serves all that are.
        @_noLocks @inlinable
        func refresh(_ taken: Int) -> Int {
            let accepted = memory.offer.pointee.accepted.load(ordering: .acquiring)
            if accepted != memory.acceptedSeen.pointee {
                memory.acceptedSeen.pointee = accepted
                memory.rejectedSeen.pointee = memory.offer.pointee.rejectedBefore.load(ordering: .relaxed)
            }
            return accepted &- taken
        }
    }
}
