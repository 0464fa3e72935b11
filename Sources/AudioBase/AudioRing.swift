// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import Synchronization

/// A ring buffer of planar frames between one writing and one reading thread, wait-free on both sides.
///
/// The writer never overwrites unread frames: a block that does not fit is rejected and counted. After a rejected block all later
/// blocks are rejected until the reader has emptied the ring, so that the stored frames are always contiguous and the next gap
/// follows them. Only the *reader* drops stored frames: a read with a bound discards the oldest frames above the bound, or all
/// frames if blocks were rejected meanwhile. Every frame offered to the writer has a position in one 64-bit count, and a read
/// returns the position of its first frame, so that the lengths of gaps are exact.
///
/// The ring owns the memory; ``writer`` and ``reader`` are handles that must not outlive it.
public final class AudioRing: Sendable {
    /// The handle of the writing thread.
    public let writer: Writer
    /// The handle of the reading thread.
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

    /// The maximum frames in the ring.
    public var capacity: Int { writer.memory.capacity }
    /// The channels of each frame.
    public var channelCount: Int { writer.memory.channelCount }
}

/// The ring's memory: two blocks of counters that both threads load, two blocks of one thread's own values, and the samples.
@usableFromInline
struct AudioRingMemory: @unchecked Sendable {  // each field has one writing thread; shared fields are atomic
    /// The counters that the writing thread stores and both threads load.
    @usableFromInline
    struct Offer: ~Copyable {
        @usableFromInline let accepted = Atomic<Int>(0)  // frames stored since the start
        @usableFromInline let rejected = Atomic<Int>(0)  // frames not stored since the start
        @usableFromInline let rejectedBefore = Atomic<Int>(0)  // frames rejected before the newest stored one
    }
    /// The values that the reading thread stores and both threads load.
    @usableFromInline
    struct Take: ~Copyable {
        @usableFromInline let taken = Atomic<Int>(0)  // frames read or discarded since the start
        @usableFromInline let awaited = Atomic<Int>(1)  // stored frames from which on the reader must be woken
    }

    @usableFromInline let offer: UnsafeMutablePointer<Offer>
    @usableFromInline let take: UnsafeMutablePointer<Take>
    @usableFromInline let takenSeen: UnsafeMutablePointer<Int>  // the value of `taken` that the writer loaded last
    @usableFromInline let overrun: UnsafeMutablePointer<Bool>  // true while blocks are rejected until the ring is empty
    @usableFromInline let acceptedSeen: UnsafeMutablePointer<Int>  // `accepted` as the reader loaded it last
    @usableFromInline let rejectedSeen: UnsafeMutablePointer<Int>  // `rejectedBefore` as the reader loaded it last
    @usableFromInline let samples: UnsafeMutablePointer<Float>
    @usableFromInline let capacity: Int
    @usableFromInline let channelCount: Int
    private let base: UnsafeMutableRawPointer

    init(channelCount: Int, capacity: Int) {
        let linePair = 128  // bytes of two cache lines, which the prefetcher loads together
        base = .allocate(byteCount: 4 * linePair + channelCount * capacity * 4, alignment: linePair)
        offer = base.bindMemory(to: Offer.self, capacity: 1)
        offer.initialize(to: Offer())
        take = (base + linePair).bindMemory(to: Take.self, capacity: 1)
        take.initialize(to: Take())
        takenSeen = (base + 2 * linePair).bindMemory(to: Int.self, capacity: 1)
        takenSeen.initialize(to: 0)
        overrun = (base + 2 * linePair + 8).bindMemory(to: Bool.self, capacity: 1)
        overrun.initialize(to: false)
        acceptedSeen = (base + 3 * linePair).bindMemory(to: Int.self, capacity: 2)
        acceptedSeen.initialize(repeating: 0, count: 2)
        rejectedSeen = acceptedSeen + 1
        samples = (base + 4 * linePair).bindMemory(to: Float.self, capacity: channelCount * capacity)
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

// Copies blocks that wrap around the end of the memory. Not inlined, so that the code for all other blocks stays fast.
extension AudioRingMemory {
    @_noLocks @inline(never) @usableFromInline
    func copyInWrapped(_ channels: Channels, frameCount: Int, offset: Int, at: Int) {
        let countToEnd = capacity &- at
        for c in 0..<channelCount {
            let from = channels[c] + offset
            let to = samples + c &* capacity
            copySamples(to + at, from, countToEnd)
            copySamples(to, from + countToEnd, frameCount &- countToEnd)
        }
    }

    @_noLocks @inline(never) @usableFromInline
    func copyOutWrapped(_ channels: Channels, frameCount: Int, offset: Int, at: Int) {
        let countToEnd = capacity &- at
        for c in 0..<channelCount {
            let to = channels[c] + offset
            let from = samples + c &* capacity
            copySamples(to, from + at, countToEnd)
            copySamples(to + countToEnd, from, frameCount &- countToEnd)
        }
    }
}

extension AudioRing {
    /// The writing side. For one thread; every method is wait-free and safe on the render thread.
    public struct Writer: Sendable {
        @usableFromInline let memory: AudioRingMemory

        /// The same as ``write(_:frameCount:offset:)-(Channels,_,_)``.
        @_noLocks @inlinable @discardableResult
        public func write(_ channels: ReadOnlyChannels, frameCount: Int, offset: Int = 0) -> Bool {
            write(channels.channels, frameCount: frameCount, offset: offset)
        }

        /// Writes a block completely or not at all.
        /// - Parameters:
        ///   - channels: at least as many as the ring has; further ones are ignored.
        ///   - offset: the first frame of `channels` to write.
        /// - Returns: true if the block was stored. Otherwise the block's frames are a gap that the reader reports.
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
            let startIndex = accepted & (m.capacity &- 1)
            if frameCount <= m.capacity &- startIndex {
                var c = 0
                while c < m.channelCount {
                    copySamples(m.samples + (c &* m.capacity &+ startIndex), channels[c] + offset, frameCount)
                    c &+= 1
                }
            } else {
                m.copyInWrapped(channels, frameCount: frameCount, offset: offset, at: startIndex)
            }
            m.offer.pointee.accepted.store(accepted &+ frameCount, ordering: .releasing)
            return true
        }

        /// Counts frames that never came (a device's xrun) as a gap. Stored frames can still be read. Until all of them are, new
        /// blocks are rejected, since a gap can only follow all stored frames.
        @_noLocks @inlinable
        public func skip(_ frameCount: Int) {
            guard frameCount > 0 else { return }
            memory.overrun.pointee = true
            let rejected = memory.offer.pointee.rejected.load(ordering: .relaxed)
            memory.offer.pointee.rejected.store(rejected &+ frameCount, ordering: .releasing)
        }

        /// The stored frames that are neither read nor discarded yet; the reader may lower the number at any moment.
        @inlinable
        public var heldFrames: Int {
            @_noLocks get {
                memory.offer.pointee.accepted.load(ordering: .relaxed)
                    &- memory.take.pointee.taken.load(ordering: .acquiring)
            }
        }

        /// True if the frames that the reader awaits are stored, so that the reader must be woken. Check this after each write:
        /// either this check or the reader's own check of ``Reader/heldFrames`` sees the frames.
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
        /// The number of frames read, without a gap.
        public var frameCount: Int
        /// The position of the first frame read, among all frames ever offered to the writer. It exceeds the end of the last read
        /// by exactly the number of frames that were rejected or discarded between.
        public var position: Int

        @inlinable @_noLocks
        init(frameCount: Int, position: Int) {
            self.frameCount = frameCount
            self.position = position
        }
    }

    /// The reading side. For one thread; every method is wait-free and safe on the render thread.
    public struct Reader: Sendable {
        @usableFromInline let memory: AudioRingMemory

        /// Discards stored frames above the bound, if there is one, then reads up to `frameCount` frames, the oldest first.
        /// - Parameters:
        ///   - channels: at least as many as the ring has; further ones are not changed. Memory beyond the read frames is not
        ///     changed.
        ///   - bound: the maximum stored frames before the read. If there are more, the oldest are discarded. If blocks were
        ///     rejected meanwhile, all are discarded: they are then as old as the ring is long.
        @_noLocks @inlinable
        public func read(_ channels: Channels, frameCount: Int, offset: Int = 0, holdingAtMost bound: Int = .max)
            -> Slice
        {
            let m = memory
            var taken = m.take.pointee.taken.load(ordering: .relaxed)
            var storedCount = m.acceptedSeen.pointee &- taken
            if storedCount < frameCount || bound != .max {
                storedCount = refresh(taken)
                if storedCount > bound {
                    let isOverrun = m.offer.pointee.rejected.load(ordering: .acquiring) != m.rejectedSeen.pointee
                    let excess = isOverrun ? storedCount : storedCount &- bound
                    taken &+= excess
                    storedCount &-= excess
                }
            }
            let count = min(storedCount, frameCount)
            let startIndex = taken & (m.capacity &- 1)
            if count <= m.capacity &- startIndex {
                var c = 0
                while c < m.channelCount {
                    copySamples(channels[c] + offset, m.samples + (c &* m.capacity &+ startIndex), count)
                    c &+= 1
                }
            } else {
                m.copyOutWrapped(channels, frameCount: count, offset: offset, at: startIndex)
            }
            m.take.pointee.taken.store(taken &+ count, ordering: .releasing)
            return Slice(frameCount: count, position: taken &+ m.rejectedSeen.pointee)
        }

        /// Discards up to `frameCount` frames, the oldest first. Returns the number of frames discarded.
        @_noLocks @inlinable @discardableResult
        public func discard(_ frameCount: Int) -> Int {
            let m = memory
            let taken = m.take.pointee.taken.load(ordering: .relaxed)
            let count = min(refresh(taken), frameCount)
            m.take.pointee.taken.store(taken &+ count, ordering: .releasing)
            return count
        }

        /// Sets the number of stored frames from which on the reader must be woken; at first 1. Before the reader sleeps,
        /// it must check ``heldFrames`` once more, after this call and after ``Wakeup/prepareToSleep()``.
        @_noLocks @inlinable
        package func await(_ frameCount: Int) {
            memory.take.pointee.awaited.store(frameCount, ordering: .relaxed)
        }

        /// The stored frames; no gap lies between them.
        @inlinable
        public var heldFrames: Int {
            @_noLocks get { refresh(memory.take.pointee.taken.load(ordering: .relaxed)) }
        }

        /// The frames ever offered to the writer, stored or not.
        @inlinable
        package var offeredFrames: Int {
            @_noLocks get {
                let offer = memory.offer
                return offer.pointee.accepted.load(ordering: .acquiring)
                    &+ offer.pointee.rejected.load(ordering: .acquiring)
            }
        }

        /// Loads the writer's counters. Returns the number of stored frames after the first `taken` ones. Frames after a gap are
        /// only stored in an empty ring, so `rejectedBefore` cannot change while frames are stored: one value applies to all.
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
