// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// The song as it was played in the last seconds. The playing render thread writes it, the capturing one reads it; positions are
/// the playing device's frame counter.
struct PlayedSong: @unchecked Sendable {  // the reader stays a second behind the frames that the writer overwrites
    private struct Limits: ~Copyable {
        let start = Atomic<Int64>(0)
        let end = Atomic<Int64>(0)
    }

    private let limits: UnsafeMutablePointer<Limits>
    private let samples: UnsafeMutablePointer<Float>
    private let channelCount: Int
    private let capacity: Int  // a power of two
    private let guardLength: Int  // the frames before the end that can be read; older ones may be overwritten

    /// - Parameter depth: the maximum frames by which the reader may be behind the writer.
    init(channelCount: Int, depth: Int) {
        guardLength = depth
        capacity = 1 << (Int.bitWidth - (2 * depth - 1).leadingZeroBitCount)
        self.channelCount = channelCount
        limits = .allocate(capacity: 1)
        limits.initialize(to: Limits())
        samples = .allocate(capacity: channelCount * capacity)
        samples.initialize(repeating: 0, count: channelCount * capacity)
    }

    func deallocate() {
        limits.deinitialize(count: 1)
        limits.deallocate()
        samples.deallocate()
    }

    /// Appends a block. After a jump of the frame counter the earlier frames are forgotten. Called on the playing render thread.
    @_noLocks
    func write(_ block: Channels, at sampleTime: Int64, _ frameCount: Int) {
        if limits.pointee.end.load(ordering: .relaxed) != sampleTime {
            limits.pointee.start.store(sampleTime, ordering: .relaxed)
        }
        let at = Int(truncatingIfNeeded: sampleTime) & (capacity &- 1)
        let first = min(frameCount, capacity &- at)
        for c in 0..<channelCount {
            let to = samples + c &* capacity
            copySamples(to + at, block[c], first)
            copySamples(to, block[c] + first, frameCount &- first)
        }
        limits.pointee.end.store(sampleTime &+ Int64(frameCount), ordering: .releasing)
    }

    /// Reads a block from a position on; frames that are not available are silent. Called on the capturing render thread.
    @_noLocks
    func read(_ block: Channels, at position: Int64, _ frameCount: Int) {
        let end = limits.pointee.end.load(ordering: .acquiring)
        let start = max(limits.pointee.start.load(ordering: .relaxed), end &- Int64(guardLength))
        let (from, to) = (max(position, start), min(position &+ Int64(frameCount), end))
        guard from < to else {
            for c in 0..<channelCount { clearSamples(block[c], frameCount) }
            return
        }
        let (before, count) = (Int(from &- position), Int(to &- from))
        let at = Int(truncatingIfNeeded: from) & (capacity &- 1)
        let first = min(count, capacity &- at)
        for c in 0..<channelCount {
            let source = samples + c &* capacity
            clearSamples(block[c], before)
            copySamples(block[c] + before, source + at, first)
            copySamples(block[c] + before + first, source, count &- first)
            clearSamples(block[c] + before + count, frameCount &- before &- count)
        }
    }
}

/// The time of a played block on both clocks, for a capturing device with another frame counter.
struct PlayedTime: BitwiseCopyable, Sendable {
    var sampleTime: Int64
    /// 0 before the first played block.
    var hostTime: HostTime
    /// Seconds from the callback to the loudspeaker.
    var outputLatency: Double

    @_noLocks
    init(sampleTime: Int64, hostTime: HostTime, outputLatency: Double) {
        self.sampleTime = sampleTime
        self.hostTime = hostTime
        self.outputLatency = outputLatency
    }
}
